import { expect } from 'chai';
import { installedBefore, versionOf } from './installed.ts';
import { CLAUDE_CODE, SEARCHING } from './kinds/claude-code.ts';
import { runAgent, sceneOf } from './scene.ts';
import { describeTasks, expectAnswers } from './task.ts';
import { LAST_TEXT } from './script.ts';

describeTasks(CLAUDE_CODE);

describe('the search of tools of Claude Code', () => {
  installedBefore();

  for (const alias of CLAUDE_CODE.aliases)
    for (const target of SEARCHING.targets)
      it(`finds one with one call: ${versionOf(alias)}, ${target}`, async () => {
        const scene = await sceneOf(SEARCHING, target, []);
        const { stdout } = await runAgent(alias, SEARCHING, scene);
        expect(scene.seen.refusals).to.deep.equal([]);
        expect(stdout).to.include(LAST_TEXT);
        expectAnswers(SEARCHING, scene, LAST_TEXT);
        expect(scene.seen.turns).to.deep.equal([1, 2]);
        expect(scene.seen.bodies[1]).to.include(
          target === 'anthropic' ? '"type":"tool_reference","tool_name":"WebFetch"' : 'Tool loaded: WebFetch',
        );
      });
});
