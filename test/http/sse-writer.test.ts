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

  readonly writableLength = 0;

  write(bytes: string | Buffer): boolean {
    this.written.push(String(bytes));
    return this.takes;
  }

  end(bytes: string | Buffer): void {
    this.written.push(String(bytes), 'end');
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
  /** Ends the turn. */
  readonly flush: () => void;
}

/** A stream that says `~` while it is silent, and whose writes leave at once, or at the end of the turn. */
function setUp({ isLate = false } = {}): Setup {
  const clock = fakeClock();
  const response = new Response();
  const waiting: Leaving[] = [];
  const flush = (): void => waiting.splice(0).forEach((leaving) => leaving.leave());
  const add = (leaving: Leaving): void => {
    waiting.push(leaving);
    if (!isLate) flush();
  };
  const gateway = { outbox: { add } };
  bindContext(response as unknown as ServerResponse, { bytes: 0, gateway } as unknown as RequestContext);
  const writer = new SseWriter(response as unknown as ServerResponse, clock);
  let drains = 0;
  writer.onDrain = () => (drains += 1);
  writer.keepAlive({ keepAlive: ({ hasBegun, isMinute }) => `~${hasBegun ? 'b' : ''}${isMinute ? 'm' : ''}` }, 15_000);
  return { clock, response, writer, drains: () => drains, flush };
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

  it('goes on with its answer where the client took only part before a silence', () => {
    const { clock, response, writer, drains } = setUp();
    response.takes = false;
    writer.write('event');
    clock.advance(14_000);
    response.takes = true; // there is room again, though not all of it was taken
    writer.note(': note');
    response.emit('drain');
    expect(drains()).to.equal(1);
    expect(response.written).to.deep.equal(['event', ': note']);
  });

  it('cuts off no client that takes a large event slowly', () => {
    const { clock, response, writer, drains } = setUp();
    response.takes = false;
    const event = 'x'.repeat(300_000);
    expect(writer.write(event)).to.equal(false);
    for (let piece = 0; piece < 3; piece += 1) {
      expect([response.written.length, drains()]).to.deep.equal([piece + 1, 0]);
      clock.advance(14_000);
      response.emit('drain');
    }
    expect(response.written.join('')).to.equal(event);
    expect([response.destroyed, drains()]).to.deep.equal([false, 1]);
  });

  it('ends a large answer once, although it waits for the end of the turn too', () => {
    const { response, writer, flush } = setUp({ isLate: true });
    response.takes = false;
    writer.note(': note');
    writer.end('x'.repeat(300_000));
    flush();
    for (let piece = 0; piece < 4; piece += 1) {
      expect(response.written).to.not.include('end');
      response.emit('drain');
    }
    flush();
    expect(response.written.filter((bytes) => bytes === 'end')).to.have.length(1);
    expect(response.written.join('')).to.equal(`: note${'x'.repeat(300_000)}end`);
  });

  it('ends an answer whose client has yet to take some of it', () => {
    const { response, writer, flush } = setUp({ isLate: true });
    response.takes = false;
    writer.write('x'.repeat(100_000));
    writer.end('last');
    flush();
    expect(response.written.join('')).to.equal(`${'x'.repeat(100_000)}lastend`);
  });

  it('says nothing once it has stopped', () => {
    const { clock, response, writer } = setUp();
    writer.stop();
    clock.advance(60_000);
    expect([response.written, clock.waiting]).to.deep.equal([[], 0]);
  });
});
