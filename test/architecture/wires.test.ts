import { expect } from 'chai';
import { importsOf, read } from './source.ts';
import { ENVELOPES, KNOW_THE_COMMON_WIRE, wireProblems } from './wire-rules.ts';

describe('what is written for clients of one wire', () => {
  it('is allowed only where it stands', () => {
    for (const path of ENVELOPES)
      expect(wireProblems('host/a.ts', read(path)).join(), path).to.include('an error envelope');
    for (const path of KNOW_THE_COMMON_WIRE)
      expect(
        importsOf(path, read(path)).map(({ file }) => file),
        path,
      ).to.include('host/wire/common-wire.ts');
  });

  for (const source of [
    "writer.end('data: [DONE]\\n\\n');",
    'writer.end(`${events}data: [DONE]\\n\\n`);',
    "writeHead(response, 200, ['Content-Type', 'text/event-stream']);",
    "sendBody(response, 404, 'text/plain', '404 page not found');",
    'sendJson(response, 400, { error: { message, type, code } });',
    "sendJson(response, 400, { 'error': { ...rest, message: 'no' } });",
    'sendJson(response, error.status, error.toEnvelope());',
    "import { COMMON_WIRE } from '../../host/wire/common-wire.ts';",
  ])
    it(`is refused: ${source}`, () => {
      expect(wireProblems('builtins/planted/planted.ts', source)).to.have.lengthOf(1);
    });

  for (const source of [
    'sendError(response, error, redactor);',
    "log.error('it failed', { error, message });",
    'const { error: { message } } = exchange;',
    'wire.error({ code, message });',
    "import { ClientWires } from '../../host/wire/client-wires.ts';",
  ])
    it(`is not seen in: ${source}`, () => {
      expect(wireProblems('builtins/planted/planted.ts', source)).to.deep.equal([]);
    });
});
