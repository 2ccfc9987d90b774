import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { installedBefore, versionOf } from './installed.ts';
import { CLAUDE_CODE } from './kinds/claude-code.ts';
import { CODEX } from './kinds/codex.ts';
import { GEMINI_CLI } from './kinds/gemini-cli.ts';
import { runAgent, sceneOf } from './scene.ts';
import { LAST_TEXT } from './script.ts';
import { expectAnswers, expectDone } from './task.ts';

const RECIPE = new URL('../../examples/coding-agents/config.yaml', import.meta.url);

/** Models of this vendor take tools on one of its APIs alone, which it refuses here as it does there. */
describe('examples/coding-agents/config.yaml', () => {
  installedBefore();

  for (const { name, aliases, modes } of [CLAUDE_CODE, CODEX, GEMINI_CLI])
    for (const alias of aliases)
      for (const mode of modes)
        it(`is all that ${name} ${versionOf(alias)} needs to finish a task (${mode.name})`, async () => {
          const scene = await sceneOf(mode, 'openai', [], parse(await readFile(RECIPE, 'utf8')) as object);
          const run = await runAgent(alias, mode, scene);
          await expectDone(scene, run, LAST_TEXT);
          expectAnswers(mode, scene, LAST_TEXT);
        });
});
