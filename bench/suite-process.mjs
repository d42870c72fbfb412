// @ts-check
// node suite-process.mjs <suite> <repeats>: runs one suite in its own process, so that earlier suites do not affect it. Sends its
// parent the title, then the rows.

const [name = '', repeats = '1'] = process.argv.slice(2);
/** @type {string[]} */
const leftOut = [];

/** @type {import('./measure.mjs').Suite} */
const suite = (await import(`./suites/${name}.mjs`)).default;
process.send?.({ title: suite.title });
const rows = await suite.run({
  repeats: Number(repeats),
  warmUpMs: suite.warmUpMs ?? 0,
  progress: (line) => process.stderr.write(`  ${line}\n`),
  leaveOut: (why) => void leftOut.push(why),
});
process.send?.({ rows, leftOut }, () => process.exit(0));
