import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { bindContext, type RequestContext } from '../../host/http/context.ts';
import type { Leaving } from '../../host/http/outbox.ts';
import { SseWriter } from '../../host/http/sse-writer.ts';
import { fakeClock, type FakeClock } from '../kit/index.ts';

class Response extends EventEmitter {
  readonly socket = {};
  destroyed = false;
  /** Whether the client takes what is written. */
  takes = true;
  readonly written: string[] = [];

  write(bytes: string): boolean {
    this.written.push(bytes);
    return this.takes;
  }

  destroy(): this {
    this.destroyed = true;
    return this;
  }
}

interface Setup {
  readonly clock: FakeClock;
  readonly response: Response;
  readonly writer: SseWriter;
  /** How often the answer was asked to go on. */
  readonly drains: () => number;
}

/** A stream that says `~` while it is silent, and whose writes leave at once. */
function setUp(): Setup {
  const clock = fakeClock();
  const response = new Response();
  const gateway = { outbox: { add: (leaving: Leaving) => leaving.leave() } };
  bindContext(response as unknown as ServerResponse, { bytes: 0, gateway } as unknown as RequestContext);
  const writer = new SseWriter(response as unknown as ServerResponse, clock);
  let drains = 0;
  writer.onDrain = () => (drains += 1);
  writer.keepAlive({ keepAlive: ({ hasBegun, isMinute }) => `~${hasBegun ? 'b' : ''}${isMinute ? 'm' : ''}` }, 15_000);
  return { clock, response, writer, drains: () => drains };
}

describe('the writer of a stream', () => {
  it('says that it goes on after each silence, and which of them are whole minutes', () => {
    const { clock, response, writer } = setUp();
    for (let quarter = 0; quarter < 5; quarter += 1) clock.advance(15_000);
    writer.write('event');
    for (let quarter = 0; quarter < 8; quarter += 1) clock.advance(15_000);
    expect(response.written).to.deep.equal('~ ~ ~ ~m ~ event ~b ~b ~b ~bm ~b ~b ~b ~bm'.split(' '));
  });

  it('asks its answer to go on only where bytes of that were waiting for the client', () => {
    const { clock, response, writer, drains } = setUp();
    response.takes = false;
    clock.advance(15_000);
    response.emit('drain');
    expect(drains(), 'it waited for a keep-alive alone').to.equal(0);
    expect(writer.write('event')).to.equal(false);
    clock.advance(14_000);
    response.emit('drain');
    expect(drains()).to.equal(1);
    response.takes = true;
    writer.write('event');
    response.takes = false;
    clock.advance(15_000);
    response.emit('drain');
    expect(drains(), 'the event had been taken').to.equal(1);
  });

  it('cuts off a client that takes nothing for 15 seconds, whatever it says in the meantime', () => {
    const { clock, response, writer } = setUp();
    response.takes = false;
    clock.advance(10_000);
    writer.write('event');
    clock.advance(14_999);
    expect(response.destroyed).to.equal(false);
    clock.advance(1);
    expect(response.destroyed).to.equal(true);
    clock.advance(60_000);
    expect(response.written.filter((bytes) => bytes.startsWith('~'))).to.have.length.below(2);
    expect(clock.waiting).to.equal(0);
  });

  it('says nothing once it has stopped', () => {
    const { clock, response, writer } = setUp();
    writer.stop();
    clock.advance(60_000);
    expect([response.written, clock.waiting]).to.deep.equal([[], 0]);
  });
});
