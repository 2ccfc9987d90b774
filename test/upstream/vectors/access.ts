import { claude, errorInfo, google, openai, type FaultVector } from './vector.ts';

export const ACCESS: readonly FaultVector[] = [
  ...[401, 403].map((status): FaultVector => ({
    id: 'M1',
    vendor: 'openai',
    status,
    body: openai('You have insufficient permissions for this operation. Missing scopes: model.request.', null),
    reason: 'model_access',
  })),
  {
    id: 'M1',
    vendor: 'openai',
    status: 403,
    body: openai('Project `proj_1` does not have access to model `gpt-6-sol`', 'model_not_found'),
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'openai',
    status: 404,
    body: openai('The model `gpt-6-sol` does not exist or you do not have access to it.', 'model_not_found'),
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 404,
    body: claude('not_found_error', 'model: claude-fable-5'),
    reason: 'model_access',
    inside: 'none',
  },
  {
    id: 'M1',
    vendor: 'bedrock',
    module: 'bedrock',
    status: 403,
    headers: { 'x-amzn-errortype': 'AccessDeniedException' },
    body: { message: "You don't have access to the model with the specified model ID." },
    reason: 'model_access',
  },
  {
    id: 'M1',
    vendor: 'openai, of a country',
    status: 403,
    body: openai(
      'Country, region, or territory not supported',
      'unsupported_country_region_territory',
      'request_forbidden',
    ),
    reason: 'key',
  },
  ...(
    [
      ['UnrecognizedClientException', 'The security token included in the request is invalid.'],
      ['InvalidSignatureException', 'The request signature we calculated does not match the signature you provided.'],
      ['ExpiredTokenException', 'The security token included in the request is expired'],
      ['IncompleteSignature', 'The request signature does not conform to AWS standards.'],
    ] as const
  ).map(([name, message]): FaultVector => ({
    id: 'K1',
    vendor: 'bedrock',
    module: 'bedrock',
    status: 403,
    headers: { 'x-amzn-errortype': `${name}:http://internal.amazon.com/coral/` },
    body: { message },
    reason: 'key',
    inside: 'none',
  })),
  {
    id: 'K1',
    vendor: 'gemini',
    module: 'gemini',
    status: 400,
    body: google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      errorInfo('API_KEY_INVALID'),
    ]),
    reason: 'key',
  },
  {
    id: 'L1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 413,
    body: claude('request_too_large', 'Request exceeds the maximum size'),
    reason: 'too_large',
  },
  {
    id: 'L1',
    vendor: 'anthropic, its edge',
    module: 'anthropic',
    status: 413,
    body: '<html><head><title>413 Payload Too Large</title></head><body>cloudflare</body></html>',
    reason: 'too_large',
    message: 'Payload Too Large',
    inside: 'none',
  },
];
