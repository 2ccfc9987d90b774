import { expect } from 'chai';
import { errorBody as geminiError } from '../../builtins/wires/gemini/errors.ts';
import { errorBody as messagesError } from '../../builtins/wires/messages/errors.ts';
import type { FaultTokens, ProviderModule } from '../../host/contract/index.ts';
import { replyError } from '../../host/upstream/fault.ts';
import { type ClientFailure, commonMessage, failureOf } from '../../host/wire/client-failure.ts';
import { bodyText, FAULT_VECTORS, type FaultVector, titleOf } from '../upstream/fault-vectors.ts';

const plain = { name: 'acme' } as ProviderModule;
const OVERFLOWS = FAULT_VECTORS.filter(({ reason }) => reason === 'context_length');

function failureFor({ status, body }: Pick<FaultVector, 'status' | 'body'>, isVerbatim = false): ClientFailure {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const error = replyError(plain, { status, headers: {}, body: Buffer.from(text) }, 0);
  return failureOf(error, error.message, 'id', isVerbatim);
}

/** How clients look for an overflow. Sources: opencode and pi, their lists of patterns as printed on GitHub; Claude Code 2.1.197, run; 2026-11-26. */
const OPENCODE = [
  /prompt is too long/i,
  /exceeds the context window/i,
  /maximum prompt length is \d+/i,
  /reduce the length of the messages/i,
  /maximum context length is \d+ tokens/i,
  /exceeds the available context size/i,
  /exceeded model token limit/i,
  /too large for model with \d+ maximum context length/i,
  /input token count.*exceeds the maximum/i,
];
const CLAUDE_CODE = /prompt is too long|input length and `max_tokens` exceed context limit/i;
const COUNTED = /prompt is too long[^0-9]*(\d+)\s*tokens?\s*>\s*(\d+)/i;

const messageIn = (body: object): string => (body as { error: { message: string } }).error.message;

describe('a prompt that is too long, as clients look for it', () => {
  for (const vector of OVERFLOWS) {
    const { tokens = {} }: { tokens?: FaultTokens } = vector;
    it(titleOf(vector), () => {
      const failure = failureFor(vector);
      const common = commonMessage(failure);
      expect(common).to.match(/context length|context window|prompt is too long/i);
      expect(common).to.satisfy(
        (said: string) =>
          said === failure.message || said === `this request exceeds the model's context window: ${failure.message}`,
      );
      const messages = messageIn(messagesError(failure));
      expect(messages).to.match(CLAUDE_CODE);
      const [, asked, limit] = COUNTED.exec(messages) ?? [];
      if (asked !== undefined) expect({ asked: Number(asked), limit: Number(limit) }).to.deep.equal(tokens);
      expect(messageIn(geminiError(failure))).to.match(
        /^The input token count .*exceeds the maximum number of tokens allowed/,
      );
    });
  }

  it('is found by the patterns of opencode, where these know the vendor at all', () => {
    const vendors = new Set([
      'openai',
      'groq',
      'deepseek',
      'nvidia-nim',
      'vllm',
      'mistral',
      'openrouter',
      'xai',
      'moonshot',
      'fireworks',
      'llama.cpp',
      'gemini',
      'vertex-ai',
      'anthropic',
      'novita',
      'sambanova',
    ]);
    for (const vector of OVERFLOWS.filter(({ vendor, id }) => vendors.has(vendor) && id !== 'E7'))
      expect(
        OPENCODE.some((pattern) => pattern.test(commonMessage(failureFor(vector)))),
        titleOf(vector),
      ).to.equal(true);
  });

  it("keeps words that clients know already, and all words in the client's own wire", () => {
    const long = { status: 400, body: { error: { message: 'Input is too long for requested model.' } } };
    const known = {
      status: 400,
      body: {
        error: { message: 'input length and `max_tokens` exceed context limit: 170636 + 34048 > 200000, decrease' },
      },
    };
    expect(messageIn(messagesError(failureFor(known)))).to.equal(known.body.error.message);
    expect(messageIn(messagesError(failureFor(long)))).to.equal(`prompt is too long: ${long.body.error.message}`);
    expect(messageIn(messagesError(failureFor(long, true)))).to.equal(long.body.error.message);
    expect(messageIn(geminiError(failureFor(long, true)))).to.equal(long.body.error.message);
    expect(commonMessage(failureFor(long, true))).to.equal(long.body.error.message);
  });

  it('has words of its own where the vendor says nothing but the code', () => {
    const { message } = failureFor({ status: 400, body: { error: { code: 'context_length_exceeded' } } });
    expect(message).to.equal("this request exceeds the model's context window");
  });

  it('is said of nothing else', () => {
    const refused = failureFor({ status: 400, body: { error: { message: 'no such field' } } });
    expect(commonMessage(refused)).to.equal('no such field');
    expect(messageIn(messagesError(refused))).to.equal('no such field');
    expect(bodyText(OVERFLOWS[0] as FaultVector)).to.include('128000');
  });
});
