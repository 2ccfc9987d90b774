/**
 * Node's `http`, without what an `import` of it costs: a static import reads every member once, and some of those load
 * the browser's WebSocket and fetch, about 30 ms of every start that nothing here needs.
 */
export const { createServer, request, ServerResponse, STATUS_CODES } = process.getBuiltinModule('node:http');
