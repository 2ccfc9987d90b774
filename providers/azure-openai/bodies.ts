import { type Fields, invalidRequest } from 'gw/common-wire';

/** The path names the deployment, and the body may not. See docs/providers.md#what-differs. */
export function withoutModel({ model: _model, ...body }: Fields): Fields {
  return body;
}

/** Empty texts are refused here: the service answers them with an error that names no input. */
export function textInput(body: Fields): Fields {
  if ([body['input']].flat().includes('')) throw invalidRequest('input must not hold an empty text');
  return body;
}
