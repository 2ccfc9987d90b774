import { google, openrouter, XAI_LENGTH, XAI_LENGTH_BODY, type FaultVector } from './vector.ts';

const MOONSHOT_RATE = {
  error: {
    message: 'Your account org-1<ak-1> request reached organization max RPM: 20, please try again after 1 seconds',
    type: 'rate_limit_reached_error',
  },
};

export const WRAPPED: readonly FaultVector[] = [
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 400,
    body: openrouter(400, 'Provider returned error', { raw: JSON.stringify(XAI_LENGTH_BODY), provider_name: 'xAI' }),
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
    message: XAI_LENGTH,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 502,
    body: openrouter(502, 'Provider returned error', { raw: JSON.stringify(XAI_LENGTH_BODY), provider_name: 'xAI' }),
    reason: 'context_length',
    tokens: { asked: 150_000, limit: 131_072 },
    message: XAI_LENGTH,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 429,
    body: openrouter(429, 'Provider returned error', {
      raw: JSON.stringify(MOONSHOT_RATE),
      provider_name: 'Moonshot AI',
    }),
    reason: undefined,
    message: MOONSHOT_RATE.error.message,
  },
  {
    id: 'N1',
    vendor: 'openrouter',
    status: 502,
    body: openrouter(502, 'Provider returned error', { raw: 'upstream connect error', provider_name: 'Parasail' }),
    reason: undefined,
    message: 'upstream connect error',
  },
  {
    id: 'N2',
    vendor: 'a list of one',
    status: 400,
    body: [google(400, 'INVALID_ARGUMENT', 'found in a list')],
    reason: undefined,
    message: 'found in a list',
  },
  {
    id: 'N2',
    vendor: 'errors',
    status: 400,
    body: { errors: [{ message: 'found in errors' }] },
    reason: undefined,
    message: 'found in errors',
  },
  {
    id: 'N2',
    vendor: 'texts',
    status: 400,
    body: { error: ['found in texts'] },
    reason: undefined,
    message: 'found in texts',
  },
  { id: 'N2', vendor: 'msg', status: 400, body: { msg: 'found in msg' }, reason: undefined, message: 'found in msg' },
  {
    id: 'N2',
    vendor: 'an error in an error',
    status: 402,
    body: { error: { error: { code: 402, message: 'found inside' } } },
    reason: 'billing',
    message: 'found inside',
  },
];
