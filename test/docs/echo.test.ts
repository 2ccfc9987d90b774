import { expect } from 'chai';
import { behaviourOf, ECHO_MODELS } from '../../providers/echo/models.ts';
import { ask, startHost } from '../kit/index.ts';
import { codes, rowsUnder } from './tables.ts';

describe('docs/echo.md', () => {
  const models = rowsUnder('echo.md', '## Models');
  const failures = rowsUnder('echo.md', '## Failures');
  const nameOf = ([cell]: readonly string[]): string => codes(cell)[0] ?? '';

  it('lists the models that echo lists, in their order', () => {
    expect([...models, ...failures].map(nameOf)).to.deep.equal(ECHO_MODELS);
  });

  it('tells what each name asks for', () => {
    for (const row of models) {
      const { pauseMs, ending, callsTool, errorStatus } = behaviourOf(nameOf(row));
      expect(row.slice(1), nameOf(row)).to.deep.equal([String(pauseMs), ending, callsTool ? 'a tool call' : 'text']);
      expect(errorStatus).to.equal(undefined);
    }
    for (const row of failures) expect(row[1]).to.equal(String(behaviourOf(nameOf(row)).errorStatus));
  });

  it('tells what a client gets for each failure', async () => {
    const host = await startHost({ strategy: { mode: 'fallback' }, targets: [{ virtual_key: 'echo' }] });
    for (const row of failures) {
      const answer = await host.post('/v1/chat/completions', { ...ask(), model: nameOf(row) });
      expect([String(answer.status), `\`${answer.json().error.code}\``], nameOf(row)).to.deep.equal(row.slice(2));
    }
  });
});
