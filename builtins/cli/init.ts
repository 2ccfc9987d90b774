import { resolve } from 'node:path';
import { type CommandInput, type CommandIo, type RunCommand, UsageError } from '../../host/cli/command.ts';
import { formatOf } from '../../host/config/load.ts';
import type { Format } from '../../host/config/parse.ts';
import type { CommandPlace, Host } from '../../host/host.ts';
import { newMasterKey } from '../../host/start/master-key.ts';
import { hasCredentials } from '../../host/upstream/connect.ts';
import { wellKnown } from './banner.ts';
import { writeNew } from './new-file.ts';

/** `gw init`: a first configuration file and a master key. The report goes to stderr, the key into no file. */
export const run: RunCommand<CommandPlace> = async (input, io, place) => init(await place.host(), input, io);

async function init(host: Host, { options }: CommandInput, { err }: CommandIo): Promise<number> {
  const { path, isJson } = placeOf(options);
  const found = [...host.registry.providers.values()]
    .filter((module) => !module.offline && hasCredentials(module, host.variables))
    .map(({ name }) => name)
    .toSorted();
  const [placeholder = 'name-of-a-provider'] = wellKnown(host.registry.providers.values());
  const text = isJson ? jsonFile(found, placeholder) : yamlFile(found, placeholder);
  const isNew = await writeNew(resolve(host.workingDirectory, path), text);
  if (!options['nonInteractive']) err('gw init\n\n');
  if (isNew) err(created(path, found));
  else err(`[-] ${path} exists, skipped: it is left as it is, and no master key is made\n`);
  err(nextSteps(path, found));
  return 0;
}

/** Where the file goes and what it is written in. Throws for a name that the gateway would not load, or would read as the other format. */
function placeOf({ output, configFormat }: CommandInput['options']): {
  readonly path: string;
  readonly isJson: boolean;
} {
  const asked = configFormat === undefined ? undefined : askedFormat(String(configFormat));
  if (output === undefined) return { path: `config.${asked ?? 'yaml'}`, isJson: asked === 'json' };
  const path = String(output);
  const named = formatOf(path);
  if (!named) throw new UsageError(`the gateway does not load "${path}": its name must end in .yaml, .yml or .json`);
  if (asked !== undefined && asked !== named)
    throw new UsageError(
      `"${path}" would be read as ${named}, and --config-format asks for ${asked}: change one of the two`,
    );
  return { path, isJson: named === 'json' };
}

const askedFormat = (written: string): Format => (written.toLowerCase() === 'json' ? 'json' : 'yaml');

function jsonFile(found: readonly string[], placeholder: string): string {
  const targets = (found.length > 0 ? found : [placeholder]).map((virtual_key) => ({ virtual_key }));
  return `${JSON.stringify({ strategy: { mode: 'fallback' }, targets }, null, 2)}\n`;
}

/** Lines of prose begin with `##`, settings with `#`: removing one `#` from every line leaves valid YAML. */
function yamlFile(found: readonly string[], placeholder: string): string {
  const targets =
    found.length > 0
      ? found.map((name) => `  - virtual_key: ${name}\n`).join('')
      : `  ## Placeholder: no provider credential was found. Name your provider, and set its variable.\n  - virtual_key: ${placeholder}\n`;
  return `## Every key is explained in config.example.yaml.
strategy:
  mode: fallback

targets:
${targets}  ## A target may also hold:
  #   weight: 1
  #   retry:
  #     attempts: 3

# plugins:
#   - name: word-filter
#     type: guardrail
#     stage: before_request
#     enabled: true
#     config:
#       blocked_words: [forbidden]
${fleetLines(found[0] ?? placeholder)}`;
}

/** A server of the operator's own, and a name in front of what serves it; `target` is one of the file. See docs/fleet.md. */
const fleetLines = (target: string): string => `
## A server of your own that speaks the OpenAI wire. Add "- virtual_key: local" to the targets, and its models are served.
# providers:
#   local:
#     kind: openai-compatible
#     base_url: http://localhost:8000

## One name for clients, and what serves it; "- target: local" may stand here once it is a target. See docs/fleet.md.
# models:
#   - name: smart
#     routes:
#       - target: ${target}
#         model: name-of-a-model
`;

function created(path: string, found: readonly string[]): string {
  const key = newMasterKey();
  return `[OK] created ${path}
${found.length > 0 ? `     targets from your environment: ${found.join(', ')}` : '     no provider credential found, one placeholder target written'}

Master key, shown once and stored nowhere:
  export MASTER_KEY=${key}

`;
}

function nextSteps(path: string, found: readonly string[]): string {
  return `Next:
  1. export GATEWAY_CONFIG=${path}
  2. ${found.length > 0 ? 'check that the provider keys in your environment are the ones you mean' : 'set the credential of your provider, for example OPENAI_API_KEY'}
  3. start the gateway: gw serve
  4. check it: curl http://localhost:8080/readyz
`;
}
