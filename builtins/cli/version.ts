import { stringify } from 'yaml';
import { defineBuiltin } from '../../host/builtin.ts';
import type { Host } from '../../host/host.ts';

/** `gw version` */
export default defineBuiltin({
  name: 'version-command',
  apply: ({ hooks }) => hooks.command.tap('version', (commandLine, host) => commandLine.add({
    name: 'version',
    summary: 'Print version, commit, build date, runtime and platform',
    run: async ({ format }, { out }) => {
      const facts = factsOf(host);
      if (format === 'json') out(`${JSON.stringify(facts, null, 2)}\n`);
      else if (format === 'yaml') out(stringify(facts));
      else out(`Version: ${facts.version}\nCommit:  ${facts.commit}\nBuilt:   ${facts.built}\nNode:    ${facts.node}\nOS/Arch: ${facts.os_arch}\n`);
    },
  })),
});

function factsOf({ build, platform }: Host): { version: string; commit: string; built: string; node: string; os_arch: string } {
  return { version: build.version, commit: build.commit, built: build.built, node: platform.node, os_arch: `${platform.os}/${platform.arch}` };
}
