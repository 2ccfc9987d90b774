import { expect } from 'chai';
import { VendorStream } from '../../builtins/wires/messages/same-wire-stream.ts';
import { HeldEvents } from '../../host/answer/held-events.ts';
import { Relay } from '../../host/answer/relay.ts';
import type { ChatChunk } from '../../host/contract/index.ts';

const said = (content: string, finish: string | null = null): ChatChunk => ({
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const eventOf = (text: string): { type: string; data: string } => ({
  type: 'content_block_delta',
  data: JSON.stringify({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
});
const STOP = { type: 'content_block_stop', data: '{"type":"content_block_stop","index":0}' };

describe('events that are held back', () => {
  it('are forgotten once they have left, also where a guard never lets all go', () => {
    const held = new HeldEvents(new VendorStream());
    let most = 0;
    let out = '';
    for (let at = 0; at < 20_000; at += 1) {
      held.push(eventOf('word '), 'E', [said('word ')]);
      out += held.release([said(at === 0 ? 'w' : 'ord w')], false);
      most = Math.max(most, held.size);
    }
    expect(out).to.have.length(19_999);
    expect(most).to.be.below(1000);
    expect(held.waitingBytes).to.equal(1);
  });

  it('leave with the rest of a text that a guard changes, before what follows it', () => {
    const held = new HeldEvents(new VendorStream());
    held.push(eventOf('secret'), 'A', [said('secret')]);
    expect(held.release([said('')], false)).to.equal('');
    held.push(eventOf(' end'), 'B', [said(' end')]);
    expect(held.release([said('[X] e')], false)).to.match(/^event: content_block_delta\n.*"text":"\[X\] e"/s);
    held.push(STOP, 'C', []);
    expect(held.release([], false)).to.equal('');
    const rest = held.release([said('nd', 'stop')], false);
    expect(rest).to.match(/"text":"nd"\}\}\n\nC$/);
    expect(held.size).to.equal(0);
  });

  it('end a stream that a guard keeps back without end', () => {
    const stream = new VendorStream();
    const piece = 'x'.repeat(4 * 1024 * 1024);
    const relay = new Relay({
      encoder: stream,
      model: 'm',
      created: 0,
      stripUsage: false,
      source: { speaks: 'client', framing: 'sse', stream, decode: () => [said(piece)], readsAsides: false },
      guards: { filter: () => [], holdsBack: true, awaitsVerdict: false },
      assembles: false,
    });
    const bytes = Buffer.from(`event: content_block_delta\ndata: ${eventOf(piece).data}\n\n`);
    let reads = 0;
    while (!relay.failure && reads < 40) {
      relay.push(bytes);
      while (relay.isBehind) relay.catchUp();
      reads += 1;
    }
    expect(reads).to.be.within(12, 14);
    expect(relay.failure).to.have.property('code', 'upstream_error');
  });
});
