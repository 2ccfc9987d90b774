import { GLOBAL_OPTIONS, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { COMMANDS } from './commands.ts';

/** `gw completion <shell>`: a script that completes commands, groups of them and options. */
export const run: RunCommand<unknown> = async ({ args }, { out }) => {
  const script = SCRIPTS.get(args[0] ?? '');
  if (!script) throw new UsageError(`no completion for "${args[0] ?? ''}"; use one of: ${[...SCRIPTS.keys()].join(', ')}`);
  out(script(wordsOf()));
};

/** Words of commands, and every long option. */
function wordsOf(): string[] {
  const options = [...GLOBAL_OPTIONS, ...COMMANDS.flatMap(({ options: own = [] }) => own)].flatMap(({ flags }) => flags.match(/--[a-z-]+/g) ?? []);
  return [...new Set([...COMMANDS.flatMap(({ name }) => name.split(' ')), ...options, '--help'])].toSorted();
}

type Script = (words: readonly string[]) => string;

const SCRIPTS: ReadonlyMap<string, Script> = new Map<string, Script>([
  ['bash', (words) => `complete -W ${JSON.stringify(words.join(' '))} gw\n`],
  ['zsh', (words) => `#compdef gw\n_gw() { compadd -- ${words.join(' ')} }\ncompdef _gw gw\n`],
  ['fish', (words) => words.map((word) => (word.startsWith('--') ? `complete -c gw -l ${word.slice(2)}\n` : `complete -c gw -f -a ${word}\n`)).join('')],
  ['powershell', (words) => `Register-ArgumentCompleter -Native -CommandName gw -ScriptBlock {
  param($word)
  ${words.map((word) => `'${word}'`).join(', ')} | Where-Object { $_ -like "$word*" }
}
`],
]);
