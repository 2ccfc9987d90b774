import { type CommandInput, type CommandOption, UsageError } from '../../../host/cli/command.ts';

interface LogFlag {
  readonly option: string;
  readonly parameter: string;
  readonly flag: CommandOption;
}

/** Flags of `gw admin logs list` that filter, by the parameter of `GET /admin/logs` that they send. */
const FLAGS: readonly LogFlag[] = [
  of('since', 'since', '--since <time>', 'Rows of then or later, as 2026-01-31T12:00:00Z'),
  of('until', 'until', '--until <time>', 'Rows of before then'),
  of('trace', 'trace_id', '--trace <id>', 'Rows of one request'),
  of('key', 'api_key_id', '--key <id>', 'Requests of one key; none: those without a credential'),
  of('model', 'model', '--model <name>', 'The exact model'),
  of('provider', 'provider', '--provider <name>', 'The exact provider'),
  of('target', 'target', '--target <name>', 'The exact target'),
  of('status', 'status', '--status <list>', 'Statuses and classes, between commas: 429,5xx'),
  of('outcome', 'outcome', '--outcome <list>', 'ok, client, policy, budget, rate, provider, gateway, failed, unknown'),
  of('code', 'code', '--code <list>', 'Codes of errors, between commas'),
  of('reason', 'reason', '--reason <word>', 'The reason, such as key_rpm'),
  of('session', 'session_id', '--session <id>', 'Requests of one session'),
  of('user', 'user', '--user <text>', 'Requests made for this user'),
  of('address', 'address', '--address <ip>', "The client's address"),
  of('account', 'account', '--account <path>', 'Requests of one account, and of those below it'),
  of('tag', 'tag', '--tag <name>', 'Requests with one tag'),
  of('text', 'text', '--text <part>', 'Part of the error, or of what the provider said'),
  of('sort', 'sort', '--sort <by>', 'The largest first: duration, cost, tokens'),
];

function of(option: string, parameter: string, flags: string, summary: string): LogFlag {
  return { option, parameter, flag: { flags, summary } };
}

export const LOG_FLAGS: readonly CommandOption[] = FLAGS.map(({ flag }) => flag);
/** Those of an export, which is in the order of the log. */
export const EXPORT_FLAGS: readonly CommandOption[] = FLAGS.filter(({ option }) => option !== 'sort').map(
  ({ flag }) => flag,
);

/** What the flags ask for, as parameters; empty where there is none. */
export function logFilters({ options }: Pick<CommandInput, 'options'>): string {
  const given = new URLSearchParams();
  for (const { option, parameter } of FLAGS) {
    const value = options[option];
    if (value !== undefined) given.set(parameter, String(value));
  }
  if (given.size > 0 && options['follow'] === true)
    throw new UsageError('--follow shows every row: leave the filters out');
  return given.size === 0 ? '' : `&${given.toString()}`;
}
