import type { IncomingMessage } from 'node:http';
import { defineBuiltin, ORDER } from '../../../host/builtin.ts';
import type { Host } from '../../../host/host.ts';
import type { JsonObject } from '../../../host/http/json-body.ts';
import { parseMetadata } from '../../../host/http/metadata-header.ts';
