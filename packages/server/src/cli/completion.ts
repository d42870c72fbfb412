import { ToolError } from './tool-error.ts';

/** Command with the data that completion needs. */
export type CompletedCommand = {
  name: string;
  summary: string;
  options: ReadonlyArray<{ flags: readonly string[]; summary: string; takesValue: boolean }>;
  subcommands: readonly CompletedCommand[];
};

export const shells = ['bash', 'zsh', 'fish'] as const;

/** Values of options that accept only a few, by flag. */
export type OptionValues = { readonly [flag: string]: readonly string[] };

/** Generates a completion script for a shell. */
export function completionScript(shell: string, commands: readonly CompletedCommand[], values: OptionValues): string {
  switch (shell) {
    case 'bash':
      return bash(commands, values);
    case 'zsh':
      return `#compdef intertie\nautoload -U +X bashcompinit && bashcompinit\n${bash(commands, values)}`;
    case 'fish':
      return fish(commands, values);
    default:
      throw new ToolError('usage', `The shell “${shell}” is not supported.`, `Use one of ${shells.join(', ')}.`);
  }
}

function joinFlags({ options }: CompletedCommand): string {
  return options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--'))).join(' ');
}

function bash(commands: readonly CompletedCommand[], values: OptionValues): string {
  const cases = commands.map((command) => {
    const words = [
      ...command.subcommands.map(({ name }) => name),
      joinFlags(command),
      ...command.subcommands.map(joinFlags),
    ];
    return `    ${command.name}) words="${words.filter(Boolean).join(' ')}" ;;`;
  });
  const given = Object.entries(values).map(
    ([flag, list]) => `    ${flag}) COMPREPLY=($(compgen -W "${list.join(' ')}" -- "$word")); return ;;`,
  );
  return `# intertie completion bash >> ~/.bashrc
_intertie() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=""
  case "$before" in
${given.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(' ')} --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$word" in
    -*) ;;
    *) COMPREPLY+=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _intertie intertie
`;
}

function fish(commands: readonly CompletedCommand[], values: OptionValues): string {
  const lines = ['# intertie completion fish > ~/.config/fish/completions/intertie.fish'];
  for (const command of commands) {
    lines.push(`complete -c intertie -n __fish_use_subcommand -f -a ${command.name} -d ${quoted(command.summary)}`);
    const seen = `-n '__fish_seen_subcommand_from ${command.name}'`;
    for (const { name, summary } of command.subcommands)
      lines.push(`complete -c intertie ${seen} -f -a ${name} -d ${quoted(summary)}`);
    const options = [command, ...command.subcommands].flatMap((one) => one.options);
    for (const { flags, summary, takesValue } of options) {
      const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
      const list = flags.flatMap((flag) => values[flag] ?? []);
      const value = list.length > 0 ? ` -x -a ${quoted(list.join(' '))}` : takesValue ? ' -r' : '';
      lines.push(`complete -c intertie ${seen} ${names.join(' ')}${value} -d ${quoted(summary)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
