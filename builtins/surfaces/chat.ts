import { readMetadata } from '../../host/http/metadata-header.ts';
import { jsonBody } from '../../host/http/surface-route.ts';
import { surfaceBuiltin } from '../../host/surface-builtin.ts';
import { readChatRequest } from './chat-request.ts';

/** `POST /v1/chat/completions`, whole or streamed. */
export default surfaceBuiltin({
  surface: 'chat',
  path: '/v1/chat/completions',
  read: jsonBody((body, httpRequest) => {
    const request = readChatRequest(body);
    const options = request.stream_options;
    return {
      request,
      streaming: request.stream === true,
      metadata: readMetadata(httpRequest.headers['x-gateway-metadata']),
      // Configured but not asked for: `{}` opts out as `include_usage: false` does.
      stripsUsage: options !== undefined && options !== null && options.include_usage !== true,
    };
  }),
});
