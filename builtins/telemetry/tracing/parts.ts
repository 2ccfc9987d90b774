/** What tracing takes: loaded with the first configuration that says where traces go. */
export { recordHandshake } from './handshake-spans.ts';
export { createPrivacy } from './privacy.ts';
export { RequestSpans } from './request-spans.ts';
export { openTracer } from './tracer.ts';
