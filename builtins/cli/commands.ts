import type { CommandDefinition } from '../../host/cli/command.ts';
import { EXPORT_FLAGS, LOG_FLAGS } from './logs/log-filters.ts';
import { KEY_MEMBER_LIST } from '../../host/common/key-members.ts';
import type { CommandPlace } from '../../host/host.ts';

type Command = CommandDefinition<CommandPlace>;

const CONFIG = {
  flags: '--config <file>',
  summary: 'Configuration',
  default: 'GATEWAY_CONFIG, else the one found here',
};

const SET_PORT = 'the port comes from the variable PORT';
const SET_CONFIG = 'the configuration comes from the variable GATEWAY_CONFIG';

/** Every command of this program, as data that loads nothing else: names, flags and help. What one runs is loaded when it runs. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    summary: 'Start the gateway: configuration from GATEWAY_CONFIG, port from PORT',
    insteadOf: { '--port': SET_PORT, '-p': SET_PORT, '--config': SET_CONFIG, '-c': SET_CONFIG },
    load: () => import('./serve.ts'),
  },
  {
    name: 'init',
    summary: 'Write a configuration file and print a new master key',
    options: [
      {
        flags: '--config-format <format>',
        summary: 'yaml or json, whatever the case; anything else is yaml',
        default: 'by the name of --output, else yaml',
      },
      {
        flags: '-o, --output <path>',
        summary: 'File to write; its name ends in .yaml, .yml or .json',
        default: 'config.yaml or config.json',
      },
      { flags: '--non-interactive', summary: 'Print no title' },
    ],
    examples: ['gw init', 'gw init --config-format json -o gateway.json'],
    refusesFormat: 'use --config-format for the file',
    load: () => import('./init.ts'),
  },
  {
    name: 'validate',
    args: ['config-file'],
    summary: 'Check a configuration file offline',
    examples: ['gw validate config.yaml', 'gw validate config.yaml --format json'],
    load: () => import('./validate.ts'),
  },
  {
    name: 'schema',
    summary: 'Print the JSON Schema of a configuration file, with the modules beside it; editors complete by it',
    options: [CONFIG],
    examples: ['gw schema > gw.schema.json'],
    load: () => import('./schema.ts'),
  },
  {
    name: 'doctor',
    summary:
      'Check providers, configuration, master key, the gateway, stores, port, clock, model catalog, modules and files',
    options: [{ flags: '--probe', summary: 'Ask each declared instance for its models, once per credential' }],
    examples: ['gw doctor', 'GATEWAY_CONFIG=config.yaml gw doctor', 'gw doctor --probe'],
    refusesFormat: true,
    load: () => import('./doctor/doctor.ts'),
  },
  {
    name: 'status',
    summary: 'Tell whether the gateway answers, its version, providers, circuits and calls',
    examples: ['gw status', 'gw status --gateway-url https://gateway.example'],
    refusesFormat: true,
    load: () => import('./status.ts'),
  },
  {
    name: 'migrate',
    summary: 'Bring the tables of every configured store up to date, as a start does, and serve nothing',
    options: [
      {
        flags: '--check',
        summary: 'Change nothing; print each step that is missing, and exit with 1 where there is one',
      },
    ],
    examples: ['gw migrate --check', 'GW_DATA_DIR=.data gw migrate'],
    refusesFormat: true,
    load: () => import('./deploy/migrate.ts'),
  },
  {
    name: 'probe',
    optionalArgs: ['what'],
    summary: 'Tell whether the gateway is ready: readyz, livez or health; exit code 0 or 1, for orchestrators',
    options: [
      { flags: '--ignore <names>', summary: 'What readyz is to judge as fine: targets, mcp', default: 'nothing' },
      { flags: '--wait <duration>', summary: 'Ask again until it is so, at most so long', default: 'ask once' },
    ],
    examples: ['gw probe --ignore targets,mcp', 'gw probe livez', 'gw probe --wait 30s'],
    refusesFormat: true,
    load: () => import('./deploy/probe.ts'),
  },
  {
    name: 'plugins',
    summary: 'List the plugins of the running configuration',
    examples: ['gw plugins --format json'],
    load: () => import('./plugins.ts'),
  },
  {
    name: 'chat',
    optionalArgs: ['prompt'],
    summary: 'Send a prompt to a model, given or piped in; on a terminal without one, talk line by line',
    options: [{ flags: '--model <model>', summary: 'Model or alias', default: 'required' }],
    examples: ['gw chat --model gpt-4o-mini "Say hello"', 'git diff | gw chat --model gpt-4o-mini'],
    load: () => import('./chat.ts'),
  },
  {
    name: 'version',
    summary: 'Print version, commit, build date, runtime and platform',
    load: () => import('./version.ts'),
  },
  {
    name: 'explain',
    summary: 'Tell where a request would go and why, without sending it',
    options: [
      CONFIG,
      { flags: '--request <file>', summary: 'JSON file with the request body', default: 'required' },
      { flags: '--metadata <json>', summary: 'Entries of the header X-Gateway-Metadata', default: 'none' },
      {
        flags: '--surface <name>',
        summary:
          'What is asked for: chat, completions, embeddings, images, images.edits, rerank, moderations, audio.speech, …',
        default: 'chat',
      },
      { flags: '--session <text>', summary: 'The session, as the header X-Gateway-Session names it', default: 'none' },
      { flags: '--key-id <id>', summary: 'The key that asks: sessions belong to a key', default: 'none' },
      { flags: '--account <path>', summary: 'The account of the key that asks', default: 'none' },
      {
        flags: '--tag <names>',
        summary: 'Tags between commas: of that key with --account, else brought by the request',
        default: 'none',
      },
    ],
    examples: [
      `gw explain --request request.json --metadata '{"team": "research"}'`,
      'gw explain --request request.json --account /acme/search --tag nightly',
    ],
    load: () => import('./explain.ts'),
  },
  {
    name: 'rules',
    optionalArgs: ['model'],
    summary:
      'Show what is known of a model, given as provider/model, and which rule says it; without a model list the rules',
    options: [{ flags: '--json', summary: 'Print JSON, as --format json does' }],
    examples: ['gw rules openai/gpt-5.6-sol', 'gw rules bedrock/us.anthropic.claude-opus-5 --json', 'gw rules'],
    load: () => import('./rules.ts'),
  },
  {
    name: 'catalog diff',
    args: ['old', 'new'],
    summary: 'Show which prices differ between two catalogs of models, line by line',
    examples: ['gw catalog diff old.json new.json', 'gw catalog diff old.json overlay.yaml --format json'],
    load: () => import('./catalog/catalog-diff.ts'),
  },
  {
    name: 'hooks',
    summary: 'List every hook of the host and of a configuration, with its taps in the order of their run',
    options: [CONFIG],
    examples: ['gw hooks --config config.yaml', 'gw hooks --format json'],
    load: () => import('./hooks.ts'),
  },
  {
    name: 'import',
    args: ['kind', 'file'],
    summary: 'Turn a configuration of LiteLLM, Portkey or Bifrost into one of gw',
    options: [
      {
        flags: '-o, --output <path>',
        summary: 'File to write; its name ends in .yaml, .yml or .json',
        default: 'it is printed',
      },
      {
        flags: '--accept-elsewhere',
        summary: 'Write it although some names would go to another place than before',
      },
      { flags: '--full', summary: 'Report every value that was not carried on a line of its own' },
    ],
    examples: [
      'gw import litellm litellm.yaml -o config.yaml',
      'gw import portkey portkey.json',
      'gw import bifrost config.json --format json',
    ],
    load: () => import('./import.ts'),
  },
  {
    name: 'import litellm-db',
    summary: "Bring keys, teams, users and budgets out of LiteLLM's database into a running gateway",
    options: [
      {
        flags: '--dsn <address>',
        summary: "Address of LiteLLM's Postgres database, or env: and the name of a variable that has it",
        default: 'required',
      },
      { flags: '--plan', summary: 'Show what would be done', default: 'unless another task is given' },
      { flags: '--apply', summary: 'Make keys, accounts and tags in the gateway' },
      { flags: '--verify', summary: 'Compare them with the database again' },
      { flags: '--undo <import>', summary: 'Take back what an import brought' },
      { flags: '--force', summary: 'With --undo: also what was used or changed since' },
      { flags: '--prefix <path>', summary: 'Account below which accounts are made', default: '/' },
      { flags: '--timezone <zone>', summary: 'Time zone in which LiteLLM begins budgets again', default: 'UTC' },
      { flags: '--reset-time <time>', summary: 'Time of day at which it does', default: '00:00' },
      { flags: '--accept <names>', summary: 'Restrictions that may be lost, between commas', default: 'none' },
    ],
    examples: [
      'gw import litellm-db --dsn env:LITELLM_DATABASE_URL',
      'gw import litellm-db --dsn env:LITELLM_DATABASE_URL --apply --accept guardrails',
      'gw import litellm-db --undo imp_0123456789abcdef0123',
    ],
    load: () => import('./import/litellm-db.ts'),
  },
  {
    name: 'admin keys list',
    summary: 'List API keys',
    examples: ['gw admin keys list --format json'],
    load: () => import('./admin/keys-list.ts'),
  },
  {
    name: 'admin keys get',
    args: ['id'],
    summary: 'Show one API key',
    load: () => import('./admin/keys-get.ts'),
  },
  {
    name: 'admin keys create',
    summary: 'Make an API key; it is shown once',
    options: [
      ...KEY_MEMBER_LIST.flatMap(([, { flag }]) => (flag ? [flag] : [])),
      {
        flags: '--every <window>',
        summary: 'Begins --budget-usd again: day, week, month, or a duration such as 5h',
        default: 'never',
      },
    ],
    examples: [
      'gw admin keys create --name ci --expires-in 720h',
      'gw admin keys create --name team --budget-usd 50 --every day',
    ],
    load: () => import('./admin/keys-create.ts'),
  },
  {
    name: 'admin keys revoke',
    args: ['id'],
    summary: 'End an API key',
    load: () => import('./admin/keys-revoke.ts'),
  },
  {
    name: 'admin keys rotate',
    args: ['id'],
    summary: 'Give an API key a new value; it is shown once',
    options: [
      {
        flags: '--grace <duration>',
        summary: 'How long the old value still works, such as 24h',
        default: 'not at all',
      },
      { flags: '--end-sessions', summary: 'Ends the sessions made with the key' },
    ],
    examples: ['gw admin keys rotate 3f2a --grace 24h'],
    load: () => import('./admin/keys-rotate.ts'),
  },
  {
    name: 'admin keys end-grace',
    args: ['id'],
    summary: 'End the grace of the value before the last rotation of an API key',
    load: () => import('./admin/keys-end-grace.ts'),
  },
  {
    name: 'admin accounts list',
    summary: 'List accounts and tags, with what is spent of their budgets',
    options: [
      { flags: '--under <path>', summary: 'This account and those below it', default: 'all' },
      { flags: '--search <text>', summary: 'Part of the path or the title', default: 'all' },
    ],
    examples: ['gw admin accounts list', 'gw admin accounts list --under /acme --format json'],
    load: () => import('./accounts/accounts-list.ts'),
  },
  {
    name: 'admin accounts get',
    args: ['path'],
    summary: 'Show one account or tag, with the state of its budgets',
    examples: ['gw admin accounts get /acme/search', "gw admin accounts get '#nightly'"],
    load: () => import('./accounts/accounts-get.ts'),
  },
  {
    name: 'admin accounts set',
    args: ['path'],
    summary: 'Make an account or a tag, or change what is named of it',
    options: [
      { flags: '--file <path>', summary: 'Members of the account, YAML or JSON; null takes one away' },
      { flags: '--title <text>', summary: 'What people call it' },
      { flags: '--usd <amount>', summary: 'A budget in US dollars: of its windows the limit, else one more' },
      { flags: '--tokens <count>', summary: 'A budget in tokens, likewise' },
      { flags: '--requests <count>', summary: 'A budget in requests, likewise' },
      {
        flags: '--every <window>',
        summary: 'Windows of the budget: day, week, month, or a duration such as 5h',
        default: 'total',
      },
      { flags: '--at <time>', summary: 'Time of day at which they begin, such as 06:00', default: '00:00' },
      { flags: '--on <day>', summary: 'Weekday, or day of the month, on which they begin', default: 'mon; 1' },
      { flags: '--timezone <zone>', summary: 'Whose clocks they go by', default: 'money.timezone, else UTC' },
      { flags: '--rpm <count>', summary: 'Requests in a minute' },
      { flags: '--tpm <count>', summary: 'Tokens in a minute' },
      { flags: '--max-parallel <count>', summary: 'Requests in flight' },
      { flags: '--unpriced <word>', summary: 'What becomes of models without a price: refuse, warn or allow' },
      { flags: '--block', summary: 'Refuse every request of models' },
      { flags: '--unblock', summary: 'Refuse them no more' },
    ],
    examples: [
      'gw admin accounts set /acme/search --usd 50 --every day --at 06:00',
      'gw admin accounts set /acme --file account.yaml',
    ],
    load: () => import('./accounts/accounts-set.ts'),
  },
  {
    name: 'admin accounts delete',
    args: ['path'],
    summary: 'Delete an account that has no keys and no stored accounts below it, or a tag',
    load: () => import('./accounts/accounts-delete.ts'),
  },
  {
    name: 'admin accounts raise',
    args: ['path'],
    summary: 'Give budgets of an account or a tag more room for a time',
    options: [
      { flags: '--usd <amount>', summary: 'US dollars more' },
      { flags: '--tokens <count>', summary: 'Tokens more' },
      { flags: '--requests <count>', summary: 'Requests more' },
      { flags: '--until <moment>', summary: 'When it ends, such as 2026-12-31T12:00:00Z', default: 'required' },
      { flags: '--from <moment>', summary: 'When it begins', default: 'now' },
      { flags: '--every <window>', summary: 'The budget that is raised, by its windows', default: 'all of the unit' },
      { flags: '--note <text>', summary: 'Why' },
    ],
    examples: ['gw admin accounts raise /acme/search --usd 20 --until 2026-12-31T12:00:00Z'],
    load: () => import('./accounts/accounts-raise.ts'),
  },
  {
    name: 'admin config get',
    summary: 'Show the running configuration, without secrets',
    examples: ['gw admin config get --format yaml'],
    load: () => import('./admin/config-get.ts'),
  },
  {
    name: 'admin config history',
    summary: 'List the versions of the configuration',
    load: () => import('./admin/config-history.ts'),
  },
  {
    name: 'admin config set',
    summary: 'Replace the running configuration, after showing what changes; what is withheld in the file stays',
    options: [
      { flags: '--file <path>', summary: 'Configuration, YAML or JSON by its extension', default: 'required' },
      { flags: '--yes', summary: 'Do not ask' },
    ],
    examples: ['gw admin config set --file config.yaml'],
    load: () => import('./admin/config-set.ts'),
  },
  {
    name: 'admin config patch',
    summary: 'Change parts of the running configuration, after showing what changes; what is withheld stays',
    options: [
      {
        flags: '--set <place=value>',
        summary: 'A value, as JSON or as text: targets.openai.weight=2; may stand there more than once',
      },
      { flags: '--unset <place>', summary: 'Takes a value away: aliases.fast' },
      { flags: '--add <place=value>', summary: 'One more entry of a list' },
      { flags: '--file <path>', summary: 'A JSON Patch, in the place of the others' },
      { flags: '--yes', summary: 'Do not ask' },
    ],
    examples: [
      'gw admin config patch --set aliases.fast=gpt-4o-mini',
      `gw admin config patch --add 'plugins={"name": "pii-redact", "stage": "before_request", "enabled": true}' --yes`,
    ],
    load: () => import('./admin/config-patch.ts'),
  },
  {
    name: 'admin config source',
    summary: 'Tell where the running configuration came from, and what the next start begins with',
    load: () => import('./admin/config-source.ts'),
  },
  {
    name: 'admin config diff',
    summary: 'Show what a file would change in the running configuration',
    options: [{ flags: '--file <path>', summary: 'Configuration, YAML or JSON by its extension', default: 'required' }],
    examples: ['gw admin config diff --file config.yaml'],
    load: () => import('./admin/config-diff.ts'),
  },
  {
    name: 'admin config rollback',
    args: ['version'],
    summary: 'Go back to an earlier version of the configuration',
    load: () => import('./admin/config-rollback.ts'),
  },
  {
    name: 'admin logs list',
    summary: 'List logged requests, newest first',
    options: [
      { flags: '--limit <n>', summary: 'Newest rows to show', default: '50' },
      { flags: '--follow', summary: 'Oldest first, and then rows as they come, until it is stopped' },
      ...LOG_FLAGS,
    ],
    examples: [
      'gw admin logs list --limit 10',
      'gw admin logs list --outcome failed --since 2026-01-31T12:00:00Z',
      'gw admin logs list --follow',
    ],
    load: () => import('./admin/logs-list.ts'),
  },
  {
    name: 'admin logs get',
    args: ['trace-id'],
    summary: 'Show one request with all of its rows, and how it was routed',
    examples: ['gw admin logs get 0af7651916cd43dd8448eb211c80319c'],
    load: () => import('./admin/logs-get.ts'),
  },
  {
    name: 'admin logs export',
    summary: 'Write logged requests to a file, as CSV or as lines of JSON',
    options: [
      { flags: '--as <form>', summary: 'csv or jsonl', default: 'csv' },
      { flags: '-o, --output <file>', summary: 'File to write, which must not exist', default: 'standard output' },
      { flags: '--max-rows <n>', summary: 'Newest rows to write, at most 1000000', default: '100000' },
      { flags: '--columns <list>', summary: 'Members of rows, between commas', default: 'all' },
      ...EXPORT_FLAGS,
    ],
    refusesFormat: 'say --as csv or --as jsonl',
    examples: [
      'gw admin logs export --since 2026-01-31T00:00:00Z --until 2026-02-01T00:00:00Z -o day.csv',
      'gw admin logs export --as jsonl --outcome failed --columns trace_id,status,reason',
    ],
    load: () => import('./admin/logs-export.ts'),
  },
  {
    name: 'admin logs denied',
    summary: 'List addresses whose requests came without a credential that is known',
    load: () => import('./admin/logs-denied.ts'),
  },
  {
    name: 'admin logs stats',
    summary: 'Show the figures of logged requests',
    load: () => import('./admin/logs-stats.ts'),
  },
  {
    name: 'admin providers list',
    summary: 'List providers with the number of their models',
    load: () => import('./admin/providers-list.ts'),
  },
  {
    name: 'admin providers health',
    summary: 'Show the health of providers and components',
    load: () => import('./admin/providers-health.ts'),
  },
  {
    name: 'admin providers reset',
    args: ['name', 'credential'],
    summary: 'Let a credential of a provider be called again that was refused',
    load: () => import('./admin/providers-reset.ts'),
  },
  {
    name: 'admin sessions list',
    summary: 'List the sessions of the dashboard',
    load: () => import('./admin/sessions-list.ts'),
  },
  {
    name: 'admin sessions revoke',
    args: ['id'],
    summary: 'End a session of the dashboard',
    load: () => import('./admin/sessions-revoke.ts'),
  },
  {
    name: 'admin audit list',
    summary: 'List what was done through the admin API, newest first',
    options: [{ flags: '--limit <n>', summary: 'Newest rows to show', default: '50' }],
    load: () => import('./admin/audit-list.ts'),
  },
  {
    name: 'admin spend',
    summary: 'Show what was spent, by whom and on what',
    options: [
      {
        flags: '--by <names>',
        summary:
          'Up to three, between commas: account, key, tag, model, provider, target, credential, surface, line, catalog, source',
        default: 'the sum alone',
      },
      { flags: '--from <moment>', summary: 'Beginning of the range, as 2026-01-31T12:00:00Z', default: 'this month' },
      { flags: '--to <moment>', summary: 'End of the range, which is not part of it', default: 'now' },
      { flags: '--bucket <size>', summary: 'Sums for each hour, day, week or month', default: 'none' },
      { flags: '--under <path>', summary: 'Of this account and those below it', default: 'all' },
      { flags: '--limit <count>', summary: 'Rows to show; with --csv only where it is given', default: '20' },
      { flags: '--csv', summary: 'Print the rows as CSV' },
      { flags: '--focus', summary: 'Print every row of the range as CSV in the form of FOCUS 1.2' },
    ],
    examples: ['gw admin spend --by account,model --bucket day', 'gw admin spend --focus > focus.csv'],
    load: () => import('./admin/spend.ts'),
  },
  {
    name: 'completion',
    args: ['shell'],
    summary: 'Print a completion script for bash, zsh, fish or powershell',
    examples: ['gw completion bash >> ~/.bashrc'],
    refusesFormat: true,
    load: async () => ({ run: (await import('./completion.ts')).completing(COMMANDS) }),
  },
  {
    name: 'module list',
    summary: 'Show the modules that are loaded, and from where',
    options: [CONFIG],
    load: () => import('./modules/module-list.ts'),
  },
  {
    name: 'module new',
    args: ['kind', 'name'],
    summary: 'Write a provider, strategy or plugin with its test',
    options: [
      { flags: '--wire <wire>', summary: 'Of a provider: common, or native for a wire of its own', default: 'common' },
      { flags: '--package', summary: 'A package of its own, to publish or to link' },
      { flags: '--shipped', summary: 'Of a provider: in every place of a checkout of gw that lists the shipped ones' },
    ],
    examples: ['gw module new plugin my-guardrail', 'gw module new provider acme --shipped'],
    refusesFormat: true,
    load: () => import('./modules/module-new.ts'),
  },
  {
    name: 'module test',
    args: ['path'],
    summary: 'Run the contract suite on a provider, strategy or plugin',
    load: () => import('./modules/module-test.ts'),
  },
];
