import { request as httpRequest } from 'node:http';

export type Sent = { method?: string; path: string; headers?: { [name: string]: string }; body?: string | Uint8Array };
export type Got = { status: number; headers: { [name: string]: unknown }; body: string };

/** Sends a request with arbitrary `Host` and `Origin` headers, which `fetch` does not allow. */
export function send(url: string, { method = 'GET', path, headers = {}, body }: Sent): Promise<Got> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks).toString() });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Creates a POST request with content type JSON. */
export function post(path: string, body: string | Uint8Array, headers: { [name: string]: string } = {}): Sent {
  return { method: 'POST', path, headers: { 'content-type': 'application/json', ...headers }, body };
}
