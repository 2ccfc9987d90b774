import type { CommandInput, CommandIo } from '../../host/cli/command.ts';

/** Asks before a change, where there is a person to ask and `--yes` is not given. False once nothing is to be changed. */
export async function isConfirmed(
  { ask, terminal, err }: CommandIo,
  { options }: Pick<CommandInput, 'options'>,
  question: string,
): Promise<boolean> {
  if (!ask || !terminal || options['yes'] === true) return true;
  const answer = await ask(`${question} [y/N] `);
  if (/^\s*y(es)?\s*$/i.test(answer ?? '')) return true;
  err('Nothing was changed.\n');
  return false;
}
