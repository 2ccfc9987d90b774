import { expect } from 'chai';
import { RE2JS } from 're2js';
import { patternSet } from 'gw/contract';
import regexGuard from '../../plugins/regex-guard.ts';
import { expectProportion, seeded } from '../kit/index.ts';
import { validateJson } from '../cli/commands.ts';
import { cut, delivered, entry, error, isTold, PATH, scene, verdicts } from './guardrail-kit.ts';

const config = { patterns: ['(?i)project[- ]?aurora', '\\bACME-\\d{4}\\b'] };

describe('regex-guard', () => {
  it('has three settings', () => {
    expect(regexGuard.settings.validate({}).value).to.deep.equal({ patterns: [], observe: false, stream: 'end' });
    expect(regexGuard.readsContent?.({ patterns: [], observe: false, stream: 'end' })).to.equal(false);
  });

  it('refuses a match in any position, without telling it', async () => {
    const run = await scene('regex-guard', { config });
    const text = 'about PROJECT-Aurora';
    expect(error(await run.chat(text))).to.deep.equal([
      400,
      'request_rejected',
      'request rejected by regex-guard (before_request): text matches a blocked pattern',
    ]);
    for (const request of [
      { tools: [{ type: 'function', function: { name: 'f', description: text } }] },
      { metadata: { a: text } },
      { stop: [text] },
      { response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { title: text } } } },
      {
        messages: [
          {
            role: 'assistant',
            content: 'x',
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":"ACME\\u002d1234"}' } }],
          },
          { role: 'user', content: 'x' },
        ],
      },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'proj' },
              { type: 'text', text: 'ect aurora' },
            ],
          },
        ],
      },
    ])
      expect((await run.chat('x', request)).status, JSON.stringify(request)).to.equal(400);
    expect((await run.chat('ACME-12345 and projects of Aurora')).status).to.equal(200);
    expect((await run.host.post('/v1/embeddings', { model: 'm', input: ['x', 'ACME-1234'] })).status).to.equal(400);
    expect([isTold(run, 'Aurora'), isTold(run, 'ACME')]).to.deep.equal([false, false]);
  });

  it('withholds whole answers', async () => {
    const run = await scene('regex-guard', {
      config,
      stages: ['after_request'],
      says: { content: ['it is ACME-1234'] },
    });
    expect(error(await run.chat('x'))).to.deep.equal([
      502,
      'response_rejected',
      'response rejected by regex-guard (after_request): text matches a blocked pattern',
    ]);
    expect(verdicts(run)).to.deep.equal([['after_request', 'rejected']]);
  });

  for (const size of [1, 2, 5, 40]) {
    it(`window: delivers no character of a match in pieces of ${size}, escapes included, and clean texts whole`, async () => {
      const window = { ...config, stream: 'window' };
      const args = '{"a":"see ACM\\u0045-1234"}';
      for (const [says, kind, most] of [
        [{ content: cut('all fine, project aurora is', size) }, 'content', 'all fine, '],
        [{ reasoning_content: cut('hm ACME-1234 hm', size) }, 'reasoning', 'hm '],
        [{ arguments: cut(args, size) }, 'arguments', '{"a":"see '],
      ] as const) {
        const got = delivered(
          await (
            await scene('regex-guard', { config: window, stages: ['after_request'], says })
          ).chat('x', { stream: true }),
        );
        expect(most.startsWith(got[kind]), got[kind]).to.equal(true);
        expect(got.last.error).to.include({
          type: 'stream_error',
          message: 'response rejected by regex-guard (after_request): text matches a blocked pattern',
        });
      }
      const text = 'projects, ACME-12345, "ACME-123", proje';
      const clean = delivered(
        await (
          await scene('regex-guard', {
            config: window,
            stages: ['after_request'],
            says: { content: cut(text, size), arguments: cut('{"a":"\\u0041CME-12\\n"}', size) },
          })
        ).chat('x', { stream: true }),
      );
      expect([clean.content, clean.arguments, clean.last]).to.deep.equal([text, '{"a":"\\u0041CME-12\\n"}', '[DONE]']);
    });
  }

  it('observes and records', async () => {
    for (const [more, action] of [
      [{ observe: true, stream: 'window' }, 'observed'],
      [{ stream: 'record' }, 'recorded'],
    ] as const) {
      const run = await scene('regex-guard', {
        config: { ...config, ...more },
        stages: ['after_request'],
        says: { content: ['ACME-1234'] },
      });
      expect(delivered(await run.chat('x', { stream: true })).content).to.equal('ACME-1234');
      expect(verdicts(run)).to.deep.equal([['after_request', action]]);
      expect(run.host.lines.find(({ msg }) => msg === `guardrail ${action}`)).to.include({
        plugin: 'regex-guard',
        stage: 'after_request',
        reason: 'text matches a blocked pattern',
      });
    }
  });

  it('refuses at validation what is not linear, with plugin and place', async () => {
    for (const pattern of ['(?=x)', '(a)\\1', '(?<=a)b', '[', '(?!x)', '', 7]) {
      const { code, stderr } = await validateJson({
        targets: [{ virtual_key: 'echo' }],
        plugins: [entry('regex-guard', 'before_request', { patterns: ['ok', pattern] })],
      });
      expect(
        [code, stderr.includes('regex-guard'), stderr.includes('patterns[1]'), stderr.match(/BV06/g)?.length],
        String(pattern),
      ).to.deep.equal([1, true, true, 1]);
    }
  });

  it('refuses bodies that cannot be read, unless it observes or has no pattern', async () => {
    for (const [settings, status] of [
      [config, 400],
      [{ ...config, observe: true }, 200],
      [{}, 200],
    ] as const) {
      const run = await scene('regex-guard', { config: settings });
      expect((await run.host.post('/v1/embeddings', { model: 'm', input: [1, 2] })).status).to.equal(status);
      expect((await run.host.post(PATH, { model: 'm', messages: [{ role: 'user', content: 'hi' }] })).status).to.equal(
        200,
      );
    }
  });
});

describe('a set of patterns', () => {
  const atoms = [
    'a',
    'b',
    '.',
    '\\b',
    '\\B',
    '^',
    '$',
    '[ab]',
    '(?i)a',
    '\\d',
    '\\w+',
    '(a|b)*',
    'a{2,3}',
    '(?m)^',
    '(?m:$)',
    '\\s',
    'a?',
    '\\z',
    '(?s).',
    'é',
    '\u{1f600}',
    'ab',
  ];
  const signs = ['a', 'b', ' ', '\n', 'A', '_', '1', 'é', '😀'];

  it('finds what the library finds, in whole texts and in pieces, and holds back where a match begins', () => {
    const random = seeded(11);
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
    for (let round = 0; round < 3000; round += 1) {
      const pattern = Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(atoms)).join('');
      const text = Array.from({ length: Math.floor(random() * 9) }, () => pick(signs)).join('');
      let library;
      try {
        library = RE2JS.compile(pattern);
      } catch {
        continue;
      }
      const isMatch = library.test(text);
      const set = patternSet([pattern]);
      const what = `${pattern} in ${JSON.stringify(text)}`;
      expect(set.find(text) !== undefined, what).to.equal(isMatch);
      const watch = set.watch();
      const begins: number[] = [];
      for (const unit of text.split('')) {
        if (watch.matched !== undefined) break;
        begins.push(watch.safe);
        watch.push(unit);
      }
      begins.push(watch.safe);
      watch.end();
      expect(watch.matched !== undefined, what).to.equal(isMatch);
      const first = library.matcher(text);
      if (isMatch && first.find() && first.end() > first.start())
        expect(Math.max(...begins.slice(0, -1), 0), what).to.be.at.most(first.start());
    }
  });

  it('takes time in proportion to the text', async () => {
    const set = patternSet(['(a|aa)+$', '(?i)(x+x+)+y', 'secret.*key', '(.*)(.*)(.*)z']);
    for (const unit of ['a', 'x', 'secret ', 'aab ']) {
      await expectProportion(2000, (size) => {
        const text = unit.repeat(Math.ceil(size / unit.length));
        return () => {
          const watch = set.watch();
          for (const character of text) watch.push(character);
          return [set.find(text), watch.safe];
        };
      });
    }
  });
});
