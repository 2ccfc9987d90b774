import { defineBuiltin } from '../../../host/builtin.ts';
import { translatesResponses } from '../../../host/config/responses-mode.ts';
import { lateFile } from '../../../host/contract/late.ts';
import { pathWire } from './path-wire.ts';
import type * as Read from './read.ts';

const PATH = '/v1/responses';

const reading = lateFile<typeof Read>(import.meta, './read.ts')(['cleaned', 'read']);

/** Requests of the Responses API for targets that do not have it: read into a chat, and answered in their own wire. */
export default defineBuiltin({
  name: 'responses',
  apply: ({ hooks }) => {
    hooks.surfaces.tap('responses', (surfaces) => surfaces.add('responses.translated'));
    hooks.clientWires.tap('responses', (wires, host) => {
      const translates = (): boolean => host.current !== undefined && translatesResponses(host.current.config);
      wires.claim(PATH, pathWire(translates));
    });
    hooks.readForwarded.tap('responses', reading.read);
    hooks.cleanForwarded.tap('responses', cleaned);
  },
});

/** What every envelope begins with. */
const ENVELOPE = 'Z3cxO';

const cleaned = (bytes: Buffer): Buffer | undefined => (bytes.includes(ENVELOPE) ? reading.cleaned(bytes) : undefined);
