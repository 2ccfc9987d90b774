import { claude, errorInfo, google, openai, type FaultVector } from './vector.ts';

export const LOADS: readonly FaultVector[] = [
  {
    id: 'O1',
    vendor: 'anthropic',
    module: 'anthropic',
    status: 529,
    body: claude('overloaded_error', 'Overloaded'),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'gemini',
    module: 'gemini',
    status: 503,
    body: google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'gemini',
    module: 'gemini',
    status: 429,
    body: google(429, 'RESOURCE_EXHAUSTED', 'No capacity available for model gemini-3-pro on the server', [
      errorInfo('MODEL_CAPACITY_EXHAUSTED'),
    ]),
    reason: 'overload',
  },
  {
    id: 'O1',
    vendor: 'mistral',
    status: 429,
    body: {
      object: 'error',
      message: 'Service tier capacity exceeded for this model.',
      type: 'service_tier_capacity_exceeded',
      param: null,
      code: '3505',
    },
    reason: 'overload',
  },
  ...['server_is_overloaded', 'slow_down'].map((code): FaultVector => ({
    id: 'O1',
    vendor: 'openai',
    status: 503,
    body: openai('Our servers are currently overloaded. Please try again later.', code, 'service_unavailable_error'),
    reason: 'overload',
  })),
  {
    id: 'O1',
    vendor: 'xai',
    status: 503,
    body: { code: 'The service is currently unavailable', error: 'The service is currently unavailable' },
    reason: 'overload',
  },
];
