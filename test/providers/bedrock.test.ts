import { expect } from 'chai';
import { hasCredentials } from '../../host/upstream/connect.ts';
import { replyError } from '../../host/upstream/fault.ts';
import bedrock from '../../providers/bedrock/index.ts';
import { connected, failedReply, fakeClock, rootOf } from '../kit/index.ts';
import { faultOf } from './native-support.ts';
import { BEARER, CLAUDE, fixture, KEYS, LLAMA, MISTRAL, NOVA, PROFILE, TITAN } from './bedrock-support.ts';

/** The provider's row. Source: capability-matrix.json, `providers.bedrock`. */
const ROW = {
  n: 'unsupported',
  seed: 'unsupported',
  max_completion_tokens: 'unsupported',
  presence_penalty: 'unsupported',
  frequency_penalty: 'unsupported',
  stop: 'unsupported',
  tools: 'translate',
  tool_choice: 'unsupported',
  response_format: 'translate',
  logprobs: 'unsupported',
  top_logprobs: 'unsupported',
  parallel_tool_calls: 'translate',
  user: 'unsupported',
  logit_bias: 'unsupported',
};

const ALL = [
  'temperature',
  'top_p',
  'n',
  'seed',
  'max_tokens',
  'max_completion_tokens',
  'presence_penalty',
  'frequency_penalty',
  'stop',
  'tools',
  'tool_choice',
  'response_format',
  'logprobs',
  'top_logprobs',
  'parallel_tool_calls',
  'user',
  'logit_bias',
];

/** Why the provider cannot be connected with these variables. */
async function refused(variables: Record<string, string>): Promise<string> {
  return connected(bedrock, { ...BEARER, ...variables }).then(
    () => 'connected',
    (error: unknown) => String(error),
  );
}

describe('bedrock', () => {
  it('declares its row of the matrix, native wire, binary streams and base64 images', () => {
    expect(bedrock.params).to.deep.equal(ROW);
    expect(bedrock)
      .to.include({ name: 'bedrock', wire: 'native', framing: 'eventstream' })
      .and.to.deep.include({ imageFormats: ['b64_json'] });
    expect(Object.keys(bedrock.translators).toSorted()).to.deep.equal(['chat', 'embeddings', 'images', 'rerank']);
    expect(bedrock).to.not.have.any.keys('passthrough', 'responses', 'batches', 'anyModel', 'discovery');
    expect(bedrock.connection.connectTimeoutMs).to.equal(15_000);
  });

  it('takes of each family what its wire has, and of Converse what it has a place for', () => {
    const supported = (model: string): string[] =>
      ALL.filter((name) => bedrock.paramsFor?.(model)[name] !== 'unsupported');
    expect(supported(CLAUDE)).to.deep.equal([
      'temperature',
      'top_p',
      'max_tokens',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
      'parallel_tool_calls',
    ]);
    expect(supported(TITAN)).to.deep.equal(['temperature', 'top_p', 'max_tokens', 'stop']);
    expect(supported(NOVA)).to.deep.equal([
      'temperature',
      'top_p',
      'max_tokens',
      'stop',
      'tools',
      'tool_choice',
      'response_format',
    ]);
    expect(supported(LLAMA)).to.deep.equal(['temperature', 'top_p', 'max_tokens', 'tools', 'response_format']);
    for (const model of [MISTRAL, PROFILE])
      expect(supported(model)).to.deep.equal([
        'temperature',
        'top_p',
        'max_tokens',
        'stop',
        'tools',
        'tool_choice',
        'response_format',
      ]);
    expect(supported('amazon.nova-canvas-v1:0')).to.deep.equal(ALL);
  });
});

describe('bedrock, connection', () => {
  it('is registered by a bearer token, a region or an access key', () => {
    for (const name of ['AWS_BEARER_TOKEN_BEDROCK', 'AWS_REGION', 'AWS_ACCESS_KEY_ID'])
      expect(hasCredentials(bedrock, { [name]: 'x' }), name).to.equal(true);
    for (const variables of [{}, { AWS_SECRET_ACCESS_KEY: 'x', AWS_SESSION_TOKEN: 'x' }, { AWS_REGION: '' }])
      expect(hasCredentials(bedrock, variables)).to.equal(false);
  });

  it('refuses half a pair of keys', async () => {
    const half: readonly Record<string, string>[] = [
      { AWS_ACCESS_KEY_ID: 'A' },
      { AWS_SECRET_ACCESS_KEY: 'S' },
      { AWS_SESSION_TOKEN: 'T' },
      { AWS_ACCESS_KEY_ID: 'A', AWS_SESSION_TOKEN: 'T' },
      { AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: ' ' },
    ];
    for (const variables of half) {
      for (const bearer of ['', 'token'])
        expect(await refused({ ...variables, AWS_BEARER_TOKEN_BEDROCK: bearer }), JSON.stringify(variables)).to.include(
          'needs both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
        );
    }
    expect(await refused({ ...KEYS, AWS_SESSION_TOKEN: 'T' })).to.equal('connected');
    expect(await refused({})).to.equal('connected');
  });

  it('stands in the region, us-east-1 unless said, or at the address that is given', async () => {
    expect(await rootOf(bedrock, BEARER)).to.equal('https://bedrock-runtime.us-east-1.amazonaws.com');
    expect(await rootOf(bedrock, { ...BEARER, AWS_REGION: ' eu-west-3 ' })).to.equal(
      'https://bedrock-runtime.eu-west-3.amazonaws.com',
    );
    expect(await rootOf(bedrock, { ...BEARER, AWS_REGION: 'cn-north-1' })).to.equal(
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    );
    expect(await rootOf(bedrock, { ...BEARER, AWS_REGION: 'eusc-de-east-1' })).to.equal(
      'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu',
    );
    expect(await rootOf(bedrock, { ...BEARER, AWS_REGION: 'us-isob-east-1' })).to.equal(
      'https://bedrock-runtime.us-isob-east-1.sc2s.sgov.gov',
    );
    const address = (value: string): Promise<string> =>
      rootOf(bedrock, { ...BEARER, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: value });
    expect(await address('http://h:9911/')).to.equal('http://h:9911');
    expect(await address(' https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com/probe/ ')).to.equal(
      'https://vpce-1.bedrock-runtime.us-east-1.vpce.amazonaws.com/probe',
    );
  });

  it('refuses addresses and regions that are none', async () => {
    for (const value of ['not-a-url', 'ftp://h', 'https://', 'http://h?x=1', 'http://h#x']) {
      expect(await refused({ AWS_ENDPOINT_URL_BEDROCK_RUNTIME: value }), value).to.include('address');
      expect(await refused({ AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: value }), value).to.include(
        'AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME',
      );
    }
    expect(await refused({ AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME: 'http://u:p@h' }))
      .to.include('AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME')
      .and.not.include('u:p');
    for (const region of ['us-east-1.evil.example/', 'a b', 'x@y'])
      expect(await refused({ AWS_REGION: region }), region).to.not.equal('connected');
  });

  it('says that a bundle of certificates has another variable', async () => {
    expect((await connected(bedrock, { ...BEARER, AWS_CA_BUNDLE: '/ca.pem' })).warnings).to.deep.equal([
      'AWS_CA_BUNDLE is not read: name the certificates in NODE_EXTRA_CA_CERTS',
    ]);
    expect((await connected(bedrock, BEARER)).warnings).to.deep.equal([]);
  });
});

describe('bedrock, errors', () => {
  const now = fakeClock().now();

  it("are read from the service's bodies", () => {
    const said = (status: number, body: unknown): unknown => {
      const { code, message, fault } = replyError(
        bedrock,
        { ...failedReply(body, status), body: failedReply(body, status).body as Uint8Array },
        now,
      );
      return [code, message, fault?.status, fault?.message];
    };
    expect(said(400, { message: 'Malformed input request' })).to.deep.equal([
      'invalid_request',
      'Malformed input request',
      400,
      'Malformed input request',
    ]);
    expect(said(400, { Message: ' under another name ' })).to.include('under another name');
    expect(said(403, fixture('chat/error-401.json'))).to.include.members([
      'upstream_auth_error',
      403,
      'The security token included in the request is invalid.',
    ]);
    expect(said(404, fixture('chat/error-404.json'))).to.include('model_not_found');
    expect(said(429, { message: 'Too many requests' })).to.include('rate_limit_exceeded');
    expect(said(408, { message: 'timed out' })).to.include('upstream_timeout');
    for (const status of [424, 500, 503, 302])
      expect(said(status, { message: 'x' }), String(status)).to.include('upstream_error');
    for (const body of ['', 'null', '[]', '<html>secret</html>', '{"message":7}', '{"__type":"x"}'])
      expect(JSON.stringify(said(500, body)), body)
        .to.include('Internal Server Error')
        .and.not.include('secret');
  });

  it('recognise a context that is too long and content that is refused, in the messages of every family', () => {
    const reason = (message: string, status = 400): unknown =>
      faultOf(bedrock, status, JSON.stringify({ message })).reason;
    const long = [
      'Input is too long for requested model.',
      'The model returned the following errors: prompt is too long: 205000 tokens > 200000 maximum',
      'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
      "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
      '400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 11000',
    ];
    for (const message of long) expect(reason(message), message).to.equal('context_length');
    for (const message of [
      'This request has been blocked by our content filters.',
      'Output blocked by content filtering policy',
    ])
      expect(reason(message), message).to.equal('content_policy');
    for (const message of ['The provided model identifier is invalid.', 'temperature is too large'])
      expect(reason(message), message).to.equal(undefined);
  });
});
