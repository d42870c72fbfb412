import { toJsonRpcError } from '@a2a-js/sdk/errors';
import { JsonRpcTransportHandler } from '@a2a-js/sdk/server';
import { asFields } from '@intertie/core/internal';
import { toExtensionHeaders, type A2ACall } from './a2a-call.ts';
import { createSSEResponse } from './sse-response.ts';

type JsonRpcError = { code: number; message: string };

/** Serves a JSON-RPC request with the SDK's transport. Errors have the status 200, as the clients of A2A expect. */
export async function serveJsonRpc(call: A2ACall): Promise<Response> {
  const { body, context, createHandler, keepAliveMs, cancel } = call;
  const { id, params } = asFields(body);
  const requestId = typeof id === 'string' || typeof id === 'number' ? id : null;
  if (!isRequest(body)) {
    return toJsonRpcErrorResponse({ code: -32_600, message: 'Request payload validation error' }, requestId);
  }
  const transport = new JsonRpcTransportHandler(createHandler(params));
  const result = await transport.handle(body, context);
  if (!(Symbol.asyncIterator in result)) return Response.json(result, { headers: toExtensionHeaders(call) });
  const toErrorJson = (error: unknown): object => ({ jsonrpc: '2.0', id: requestId, error: toJsonRpcError(error) });
  try {
    return await createSSEResponse(result as AsyncGenerator<unknown, unknown>, {
      toJson: (item) => item,
      toErrorJson,
      keepAliveMs,
      getHeaders: () => toExtensionHeaders(call),
      onCancel: cancel,
    });
  } catch (error) {
    return Response.json(toErrorJson(error));
  }
}

function isRequest(body: unknown): body is { jsonrpc: '2.0'; method: string } {
  const { jsonrpc, method, id } = asFields(body);
  const isId = id === undefined || id === null || typeof id === 'string' || Number.isInteger(id);
  return jsonrpc === '2.0' && typeof method === 'string' && method !== '' && isId;
}

export function toJsonRpcErrorResponse(error: unknown, id: string | number | null): Response {
  const body = error instanceof Error ? toJsonRpcError(error) : (error as JsonRpcError);
  return Response.json({ jsonrpc: '2.0', id, error: body });
}
