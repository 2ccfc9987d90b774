import { expect } from 'chai';
import { cacheWritesIn, finishReason, readUsage } from '../../host/contract/index.ts';

describe('readUsage', () => {
  for (const [what, given, expected] of [
    [
      'plain counts',
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      'a missing total',
      { prompt_tokens: 3, completion_tokens: 4 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      'a total of its own',
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 9 },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 9 },
    ],
    [
      'zero details',
      {
        prompt_tokens: 3,
        completion_tokens: 4,
        total_tokens: 7,
        reasoning_tokens: 0,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: null,
      },
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      'flat details',
      { prompt_tokens: 9, completion_tokens: 4, reasoning_tokens: 2, cache_read_tokens: 5, cache_write_tokens: 1 },
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        total_tokens: 13,
        reasoning_tokens: 2,
        cache_read_tokens: 5,
        cache_write_tokens: 1,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    ],
    [
      'nested details',
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        total_tokens: 13,
        reasoning_tokens: 2,
        cache_read_tokens: 5,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    ],
    [
      'flat over nested',
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        reasoning_tokens: 1,
        cache_read_tokens: 6,
        prompt_tokens_details: { cached_tokens: 5 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
      {
        prompt_tokens: 9,
        completion_tokens: 4,
        total_tokens: 13,
        reasoning_tokens: 1,
        cache_read_tokens: 6,
        prompt_tokens_details: { cached_tokens: 6 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    ],
    [
      'nested where flat is zero',
      { prompt_tokens: 9, completion_tokens: 0, cache_read_tokens: 0, prompt_tokens_details: { cached_tokens: 5 } },
      {
        prompt_tokens: 9,
        completion_tokens: 0,
        total_tokens: 9,
        cache_read_tokens: 5,
        prompt_tokens_details: { cached_tokens: 5 },
      },
    ],
    [
      'cache hits and misses',
      { prompt_tokens: 11, completion_tokens: 7, prompt_cache_hit_tokens: 4, prompt_cache_miss_tokens: 7 },
      {
        prompt_tokens: 11,
        completion_tokens: 7,
        total_tokens: 18,
        cache_read_tokens: 4,
        prompt_tokens_details: { cached_tokens: 4 },
      },
    ],
    [
      'cache writes outside the total',
      { prompt_tokens: 10, completion_tokens: 1, cache_write_tokens: 600 },
      { prompt_tokens: 10, completion_tokens: 1, total_tokens: 11, cache_write_tokens: 600 },
    ],
    [
      'counts of a wrong kind',
      { prompt_tokens: '3', completion_tokens: -4, total_tokens: null, reasoning_tokens: [] },
      { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    ],
    // Measured against xAI's own bill (cost_in_usd_ticks). Source: Wei-Shaw/sub2api issue 5771, 2026-08-18; xAI documentation, "Consumption and rate limits".
    [
      'reasoning counted apart, where the three add up to the total',
      {
        prompt_tokens: 10_120,
        completion_tokens: 1499,
        total_tokens: 14_428,
        prompt_tokens_details: { cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 2809 },
      },
      {
        prompt_tokens: 10_120,
        completion_tokens: 4308,
        total_tokens: 14_428,
        reasoning_tokens: 2809,
        cache_read_tokens: 128,
        prompt_tokens_details: { cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 2809 },
      },
    ],
    // More thoughts than answer can only be counted apart: Perplexity leaves them out of the total too. Source: Perplexity documentation, "Sonar deep research", 2026-11-22.
    [
      'reasoning counted apart, where it is more than the completion',
      {
        prompt_tokens: 33,
        completion_tokens: 7163,
        total_tokens: 7196,
        reasoning_tokens: 73_997,
        citation_tokens: 20_016,
      },
      {
        prompt_tokens: 33,
        completion_tokens: 81_160,
        total_tokens: 81_193,
        reasoning_tokens: 73_997,
        completion_tokens_details: { reasoning_tokens: 73_997 },
        citation_tokens: 20_016,
      },
    ],
    [
      'reasoning counted apart without a total',
      { prompt_tokens: 12, completion_tokens: 2, reasoning_tokens: 317 },
      {
        prompt_tokens: 12,
        completion_tokens: 319,
        total_tokens: 331,
        reasoning_tokens: 317,
        completion_tokens_details: { reasoning_tokens: 317 },
      },
    ],
    // A vendor that counts one thought too many has not counted them apart: its total has room for them. Source: vercel/ai, Moonshot recording of issue 19311 (kimi-k3), 2026-11-23.
    [
      'reasoning of one token more than the completion that holds it',
      {
        prompt_tokens: 951,
        completion_tokens: 6000,
        total_tokens: 6952,
        completion_tokens_details: { reasoning_tokens: 6001 },
      },
      {
        prompt_tokens: 951,
        completion_tokens: 6001,
        total_tokens: 6952,
        reasoning_tokens: 6001,
        completion_tokens_details: { reasoning_tokens: 6001 },
      },
    ],
    [
      'more reasoning than completion, where the total has room for both and more',
      { prompt_tokens: 12, completion_tokens: 2, total_tokens: 340, reasoning_tokens: 317 },
      {
        prompt_tokens: 12,
        completion_tokens: 319,
        total_tokens: 340,
        reasoning_tokens: 317,
        completion_tokens_details: { reasoning_tokens: 317 },
      },
    ],
    [
      'an answer that is reasoning alone',
      { prompt_tokens: 5, completion_tokens: 40, total_tokens: 45, reasoning_tokens: 40 },
      {
        prompt_tokens: 5,
        completion_tokens: 40,
        total_tokens: 45,
        reasoning_tokens: 40,
        completion_tokens_details: { reasoning_tokens: 40 },
      },
    ],
    // Source: Moonshot documentation, "Chat", 2026-11-22.
    [
      'cached tokens beside the others',
      { prompt_tokens: 19, completion_tokens: 21, total_tokens: 40, cached_tokens: 10 },
      {
        prompt_tokens: 19,
        completion_tokens: 21,
        total_tokens: 40,
        cache_read_tokens: 10,
        prompt_tokens_details: { cached_tokens: 10 },
      },
    ],
    // Source: @ai-sdk/mistral 3.0.69, usage schema, 2026-11-22.
    [
      'the two other names that one vendor uses',
      { prompt_tokens: 19, completion_tokens: 2, num_cached_tokens: 10, prompt_token_details: { cached_tokens: 10 } },
      {
        prompt_tokens: 19,
        completion_tokens: 2,
        total_tokens: 21,
        cache_read_tokens: 10,
        prompt_tokens_details: { cached_tokens: 10 },
      },
    ],
    [
      'the second of them alone',
      { prompt_tokens: 19, completion_tokens: 2, prompt_token_details: { cached_tokens: 10 } },
      {
        prompt_tokens: 19,
        completion_tokens: 2,
        total_tokens: 21,
        cache_read_tokens: 10,
        prompt_tokens_details: { cached_tokens: 10 },
      },
    ],
    ['an empty object', {}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ] as const) {
    it(`reads ${what}`, () => {
      expect(readUsage(given)).to.deep.equal(expected);
    });
  }

  it('reads what it has read once more without a change', () => {
    for (const usage of [
      { prompt_tokens: 10, completion_tokens: 2, total_tokens: 17, reasoning_tokens: 5 },
      { prompt_tokens: 10, completion_tokens: 2, reasoning_tokens: 5, cached_tokens: 4 },
    ]) {
      expect(readUsage(readUsage(usage))).to.deep.equal(readUsage(usage));
    }
  });

  it('keeps members that are not counts of ours', () => {
    expect(
      readUsage({
        prompt_tokens: 1,
        completion_tokens: 1,
        queue_time: 0.5,
        prompt_tokens_details: { audio_tokens: 3 },
      }),
    ).to.deep.include({ queue_time: 0.5, prompt_tokens_details: { audio_tokens: 3 } });
  });

  it('does not touch what it reads', () => {
    const given = Object.freeze({
      prompt_tokens: 1,
      completion_tokens: 1,
      prompt_tokens_details: Object.freeze({ cached_tokens: 1 }),
    });
    expect(() => readUsage(given)).to.not.throw();
  });

  for (const value of [undefined, null, 5, 'x', true])
    it(`is undefined for ${String(value)}`, () => {
      expect(readUsage(value)).to.equal(undefined);
    });
});

describe('cacheWritesIn', () => {
  const told = (prompt_tokens: number, more: object): number =>
    cacheWritesIn({ prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1, ...more });

  it('is what of the prompt was written to a cache', () => {
    expect(told(3438, { prompt_tokens_details: { cache_write_tokens: 3435 } })).to.equal(3435);
    expect(
      told(3438, { cache_read_tokens: 3423, prompt_tokens_details: { cached_tokens: 3423, cache_write_tokens: 12 } }),
    ).to.equal(12);
  });

  it('is nothing where cache writes stand beside the prompt, or have no room in it, or are not counted', () => {
    expect(told(100, { cache_write_tokens: 40, prompt_tokens_details: { cache_write_tokens: 40 } })).to.equal(0);
    expect(
      told(100, { cache_read_tokens: 90, prompt_tokens_details: { cached_tokens: 90, cache_write_tokens: 40 } }),
    ).to.equal(0);
    for (const details of [
      undefined,
      null,
      7,
      {},
      { cache_write_tokens: -1 },
      { cache_write_tokens: 'x' },
      { cache_write_tokens: null },
    ])
      expect(told(100, { prompt_tokens_details: details })).to.equal(0);
  });
});

describe('finishReason', () => {
  const TABLE: Readonly<Record<string, readonly string[]>> = {
    stop: ['stop', 'end_turn', 'stop_sequence', 'complete', 'finish', 'finished', 'stop_criteria_met'],
    length: ['length', 'max_tokens', 'model_length', 'max_completion_tokens'],
    tool_calls: ['tool_use', 'tool_call', 'tool_calls', 'function_call'],
    content_filter: [
      'content_filter',
      'content_filtered',
      'refusal',
      'safety',
      'error_toxic',
      'recitation',
      'blocklist',
      'prohibited_content',
      'spii',
      'image_safety',
      'image_prohibited_content',
      'image_recitation',
    ],
  };

  for (const [canonical, reasons] of Object.entries(TABLE)) {
    it(`says ${canonical} for ${reasons.join(', ')}, in any case`, () => {
      for (const reason of reasons)
        for (const spelled of [reason, reason.toUpperCase(), ` ${reason} `])
          expect(finishReason(spelled), spelled).to.equal(canonical);
    });
  }

  it('keeps what it does not know, in its case', () => {
    for (const reason of ['OTHER', 'MALFORMED_FUNCTION_CALL', 'pause_turn', 'constructor', ''])
      expect(finishReason(reason)).to.equal(reason);
  });
});
