import { expect } from 'chai';
import { pino, symbols } from 'pino';

/** `host/log/logger.ts` calls one function of pino, and replaces another, both under symbols that pino publishes without describing them. */
describe('what the log uses of pino beyond its documentation', () => {
  const made = (): {
    readonly logger: Record<symbol, (...values: unknown[]) => unknown>;
    readonly calls: unknown[][];
    readonly lines: string[];
  } => {
    const calls: unknown[][] = [];
    const lines: string[] = [];
    const options = { base: null, messageKey: 'msg', timestamp: () => ',"time":"now"' };
    const logger = pino(options, {
      write: (line: string) => {
        lines.push(line);
      },
    }) as unknown as Record<symbol, (...values: unknown[]) => unknown>;
    const own = logger[symbols.asJsonSym]!;
    logger[symbols.asJsonSym] = (...values) => {
      calls.push(values);
      return own.apply(logger, values);
    };
    return { logger, calls, lines };
  };

  it('writes a line for attributes, a message and the number of a level', () => {
    const { logger, lines } = made();
    logger[symbols.writeSym]!({ a: 1 }, 'hello', 30);
    expect(lines).to.deep.equal(['{"level":30,"time":"now","a":1,"msg":"hello"}\n']);
  });

  it('has each line made by one function, from attributes, message, level and time', () => {
    const { logger, calls } = made();
    logger[symbols.writeSym]!({ a: 1 }, 'hello', 40);
    expect(calls).to.deep.equal([[{ a: 1 }, 'hello', 40, ',"time":"now"']]);
  });
});
