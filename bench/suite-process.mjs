// @ts-check
// node suite-process.mjs <suite> <repeats>: one suite in a process of its own, so that it is measured the same alone and
// after others. It tells its parent the title, then the rows.

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
