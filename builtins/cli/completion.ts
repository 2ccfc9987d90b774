import { type CommandDefinition, GLOBAL_OPTIONS, type RunCommand, UsageError } from '../../host/cli/command.ts';

type Commands = readonly CommandDefinition<never>[];

/** `gw completion <shell>`: a script that completes these commands, groups of them, and the flags of the command that stands there. */
export const completing =
  (commands: Commands): RunCommand<unknown> =>
  async ({ args }, { out }) => {
    const script = SCRIPTS.get(args[0] ?? '');
    if (!script)
      throw new UsageError(`no completion for "${args[0] ?? ''}"; use one of: ${[...SCRIPTS.keys()].join(', ')}`);
    out(script(placesIn(commands), valuedIn(commands)));
  };

/** What may follow the words that stand there. */
interface Place {
  /** A command, the beginning of some, or nothing: `admin keys`. */
  readonly words: string;
  readonly isCommand: boolean;
  readonly next: readonly string[];
}

const flagsOf = ({ flags }: { readonly flags: string }): string[] => flags.match(/--[a-z-]+/g) ?? [];

const GLOBAL_FLAGS = [...GLOBAL_OPTIONS.flatMap(flagsOf), '--help'];

function placesIn(commands: Commands): Place[] {
  const starts = new Set([
    '',
    ...commands.flatMap(({ name }) => name.split(' ').map((_word, at, words) => words.slice(0, at + 1).join(' '))),
  ]);
  return [...starts].toSorted().map((words) => {
    const command = commands.find(({ name }) => name === words);
    const below = commands
      .filter(({ name }) => words === '' || name.startsWith(`${words} `))
      .map(({ name }) => name.slice(words === '' ? 0 : words.length + 1).split(' ')[0] ?? '');
    return {
      words,
      isCommand: command !== undefined,
      next: [
        ...new Set(below),
        ...(command?.options ?? []).flatMap(flagsOf),
        ...GLOBAL_FLAGS,
        ...(words === '' ? ['help'] : []),
      ],
    };
  });
}

/** Flags that a value follows, which is not a word of the command. */
function valuedIn(commands: Commands): string[] {
  const options = [...GLOBAL_OPTIONS, ...commands.flatMap(({ options: own = [] }) => own)];
  return [
    ...new Set(
      options
        .filter(({ flags }) => flags.includes('<'))
        .flatMap(({ flags }) => flags.match(/(?<!\S)--?[a-z-]+/g) ?? []),
    ),
  ].toSorted();
}

type Script = (places: readonly Place[], valued: readonly string[]) => string;

/** A line of `case` for each place; behind a command stand its arguments. */
const cases = (places: readonly Place[], then: (next: string) => string): string =>
  places
    .map(
      ({ words, isCommand, next }) => `    "${words}"${isCommand ? `|"${words} "*` : ''}) ${then(next.join(' '))} ;;\n`,
    )
    .join('');

const bash: Script = (places, valued) => `_gw() {
  local at word before="" isValue=""
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [ -n "$isValue" ]; then isValue=""; continue; fi
    case "$word" in
      ${valued.join('|')}) isValue=1 ;;
      -*) ;;
      *) before="\${before:+$before }$word" ;;
    esac
  done
  COMPREPLY=()
  if [ -n "$isValue" ]; then compopt -o default 2>/dev/null; return; fi
  local next=""
  case "$before" in
${cases(places, (next) => `next="${next}"`)}  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null
}
complete -F _gw gw
`;

const zsh: Script = (places, valued) => `#compdef gw
_gw() {
  local word before="" isValue=""
  for word in "\${(@)words[2,CURRENT-1]}"; do
    if [[ -n "$isValue" ]]; then isValue=""; continue; fi
    case "$word" in
      ${valued.join('|')}) isValue=1 ;;
      -*) ;;
      *) before="\${before:+$before }$word" ;;
    esac
  done
  if [[ -n "$isValue" ]]; then _files; return; fi
  case "$before" in
${cases(places, (next) => `compadd -- ${next}`)}  esac
  _files
}
compdef _gw gw
`;

const fish: Script = (places, valued) => `function __gw_before
  set -l before
  set -l isValue ''
  for word in (commandline -opc)[2..-1]
    if test -n "$isValue"
      set isValue ''
      continue
    end
    switch $word
      case ${valued.map((flag) => `'${flag}'`).join(' ')}
        set isValue 1
      case '-*'
      case '*'
        set -a before $word
    end
  end
  string join ' ' -- $before
end
${places
  .map(({ words, isCommand, next }) => {
    const pattern = isCommand ? `^${words}( |$)` : `^${words}$`;
    return `complete -c gw -n 'string match -qr -- "${pattern}" (__gw_before | string collect --allow-empty)' -a '${next.join(' ')}'\n`;
  })
  .join('')}`;

/** Groups and flags of all commands, wherever the word stands. */
const powershell: Script = (places) => `Register-ArgumentCompleter -Native -CommandName gw -ScriptBlock {
  param($word)
  ${[...new Set(places.flatMap(({ next }) => next))]
    .toSorted()
    .map((word) => `'${word}'`)
    .join(', ')} | Where-Object { $_ -like "$word*" }
}
`;

const SCRIPTS: ReadonlyMap<string, Script> = new Map<string, Script>([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
  ['powershell', powershell],
]);
