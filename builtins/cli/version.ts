import type { RunCommand } from '../../host/cli/command.ts';
import type { CommandPlace } from '../../host/host.ts';

/** `gw version` */
export const run: RunCommand<CommandPlace> = async ({ format }, { out }, place) => {
  const facts = factsOf(place);
  if (format === 'json') out(`${JSON.stringify(facts, null, 2)}\n`);
  else if (format === 'yaml') out((await import('./yaml-text.ts')).yamlText(facts));
  else
    out(
      `Version: ${facts.version}\nCommit:  ${facts.commit}\nBuilt:   ${facts.built}\nNode:    ${facts.node}\nOS/Arch: ${facts.os_arch}\n`,
    );
};

function factsOf({ build, platform }: CommandPlace): {
  version: string;
  commit: string;
  built: string;
  node: string;
  os_arch: string;
} {
  return {
    version: build.version,
    commit: build.commit,
    built: build.built,
    node: platform.node,
    os_arch: `${platform.os}/${platform.arch}`,
  };
}
