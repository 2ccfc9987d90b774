import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { systemClock } from '../../host/common/clock.ts';
import { createHost } from '../../host/create-host.ts';
import type { Host } from '../../host/host.ts';
import type { GatewayModule } from '../../host/registry/registry.ts';
import { temporaryFolder } from '../kit/index.ts';

/** A folder of the test's own that holds these files: path, text. */
export async function writeTree(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  return root;
}

/** A valid configuration on the offline provider. */
export const CONFIG = 'strategy: { mode: fallback }\ntargets: [{ virtual_key: echo }]\n';

/** Sources of valid modules. These need `gw/contract`, so a process with the resolve hook must import them. */
export const SOURCES = {
  strategy: (name: string): string => `import Joi from 'joi';
import { defineStrategy } from 'gw/contract';
export default defineStrategy({ name: '${name}', summary: 's', settings: Joi.object({}), create: () => (targets) => targets });\n`,
  plugin: (name: string): string => `import Joi from 'joi';
import { definePlugin } from 'gw/contract';
export default definePlugin({ name: '${name}', type: 'logging', summary: 's', stages: ['before_request'], settings: Joi.object({}), create: () => ({ before_request() {} }) });\n`,
  provider: (name: string): string => `import { bearer, defineProvider } from 'gw/contract';
import { commonTranslators } from 'gw/common-wire';
export default defineProvider({
  name: '${name}', wire: 'common', params: {}, translators: commonTranslators(['chat'], {}),
  connection: { env: ['ACME_API_KEY'], baseUrl: 'https://acme.test/v1', authorize: bearer('ACME_API_KEY') },
});\n`,
};

/** A file that exports anything; enough for finding and importing, which look at nothing inside. */
export const anything = (name: string): string => `export default { name: '${name}' };\n`;

/** A host that has opened nothing, with these modules shipped. */
export function bareHost(installDirectory: string, modules: readonly GatewayModule[] = []): Host {
  return createHost({
    variables: {},
    workingDirectory: installDirectory,
    installDirectory,
    build: { version: 'test', commit: 'none', built: 'unknown' },
    platform: { node: process.version, os: process.platform, arch: process.arch },
    clock: systemClock,
    random: Math.random,
    lines: { write: () => {} },
    modules,
    builtins: [],
  });
}
