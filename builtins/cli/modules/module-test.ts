import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { type Clock, TookTooLong, within } from '../../../host/common/clock.ts';
import { errorMessage } from '../../../host/common/error-message.ts';
import type { CommandInput, CommandIo, RunCommand } from '../../../host/cli/command.ts';
import { ConfigRefused } from '../../../host/config/problems.ts';
import { isFields, parseJson } from '../../../host/contract/index.ts';
import type { CommandPlace, Host } from '../../../host/host.ts';
import { loadModule } from '../../../host/registry/load-module.ts';
import type { GatewayModule } from '../../../host/registry/registry.ts';
import type { Check } from '../../../host/testing/module-checks.ts';

/** `gw module test <path>`: the contract suite of the module's kind, on its own fixtures. */
export const run: RunCommand<CommandPlace> = async (input, io, place) =>
  testModule(await place.host(), input, io, place.clock);

interface Result {
  readonly title: string;
  readonly ok: boolean;
  readonly message?: string;
}

/** Time for one check. */
const LIMIT_MS = 10_000;

async function testModule(
  host: Host,
  { args: [path = ''], format }: CommandInput,
  { out }: CommandIo,
  clock: Clock,
): Promise<number> {
  const loaded = await loadModule(resolve(host.workingDirectory, path), host.loading);
  if ('problem' in loaded) throw new ConfigRefused([loaded.problem]);
  const results = await resultsOf(await suiteOf(loaded.module, join(dirname(loaded.file), 'fixtures'), clock), clock);
  const failed = results.filter(({ ok }) => !ok).length;
  if (format === 'table') out(host.redactor.redact(reportOf(loaded.module, results, failed)));
  else out(host.redactor.redact(format === 'json' ? `${JSON.stringify(results, undefined, 2)}\n` : stringify(results)));
  return failed > 0 ? 1 : 0;
}

async function resultsOf(checks: readonly Check[], clock: Clock): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const { title, run: hold } of checks) {
    try {
      await within(hold(), LIMIT_MS, clock, 'it');
      results.push({ title, ok: true });
    } catch (error) {
      results.push({ title, ok: false, message: errorMessage(error) });
      if (error instanceof TookTooLong) break; // the others would wait for the same
    }
  }
  return results;
}

function reportOf({ kind, name }: GatewayModule, results: readonly Result[], failed: number): string {
  const lines = results.flatMap(({ title, ok, message = '' }) =>
    ok ? [`  ok    ${title}`] : [`  FAIL  ${title}`, ...message.split('\n').map((line) => `        ${line}`)],
  );
  return `${kind} ${typeof name === 'string' ? name : ''}\n${lines.join('\n')}\n\n${results.length} checks, ${failed === 0 ? 'all hold' : `${failed} failed`}\n`;
}

/** The checks of a module. None where its shape is not even one to make a suite of: the rules tell that. */
async function suiteOf(module: GatewayModule, folder: string, clock: Clock): Promise<readonly Check[]> {
  try {
    return await checksOf(module, folder);
  } catch (error) {
    const rules = (await import('../../../host/testing/module-checks.ts')).keepsRules(module);
    if ((await resultsOf([rules], clock)).every(({ ok }) => ok)) throw error;
    return [rules];
  }
}

/** The suites are loaded for this command alone. */
async function checksOf(module: GatewayModule, folder: string): Promise<readonly Check[]> {
  const settings = objectIn(folder, 'settings.json');
  switch (module.kind) {
    case 'provider':
      return (await import('../../../host/testing/provider-checks.ts')).providerContract(module, providerFacts(folder));
    case 'strategy': {
      const targets = readIn(folder, 'targets.json');
      return (await import('../../../host/testing/module-checks.ts')).strategyContract(module, {
        ...(settings && { settings }),
        ...(Array.isArray(targets) && { targets: targets as string[] }),
      });
    }
    default: {
      const exchange = objectIn(folder, 'exchange.json');
      return (await import('../../../host/testing/module-checks.ts')).pluginContract(module, {
        ...(settings && { settings }),
        ...(exchange && { exchanges: [exchange] }),
      });
    }
  }
}

/** `reply.json`, `stream.*`, `error-<status>.json`, and in `facts.json` what they say: `model`, `says`, `errors` by status. */
function providerFacts(folder: string): object {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const { model, says, errors } = objectIn(folder, 'facts.json') ?? {};
  const told = isFields(errors) ? errors : {};
  const stream = names.find((name) => name.startsWith('stream.'));
  return {
    ...(typeof model === 'string' && { model }),
    ...(typeof says === 'string' && { says }),
    ...(names.includes('reply.json') && { reply: readFileSync(join(folder, 'reply.json'), 'utf8') }),
    ...(stream !== undefined && { stream: readFileSync(join(folder, stream)) }),
    errors: names.flatMap((name) => {
      const status = /^error-(\d{3})\./.exec(name)?.[1];
      const message = status === undefined ? undefined : told[status];
      return status === undefined
        ? []
        : [
            {
              status: Number(status),
              body: readFileSync(join(folder, name), 'utf8'),
              ...(typeof message === 'string' && { message }),
            },
          ];
    }),
  };
}

function readIn(folder: string, name: string): unknown {
  const path = join(folder, name);
  return existsSync(path) ? parseJson(readFileSync(path, 'utf8')) : undefined;
}

function objectIn(folder: string, name: string): Readonly<Record<string, unknown>> | undefined {
  const read = readIn(folder, name);
  return isFields(read) ? read : undefined;
}
