// Serves the page of this folder: `node examples/sign-up/serve.mjs`, with the service running. It turns the sign-up proxy
// of your organization on, and tells the page where the service is and which keys to trust.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiKeyStamper, createClient, fetchServiceKeys } from '@custos/sdk';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SDK = fileURLToPath(new URL('.', import.meta.resolve('@custos/sdk')));
const PAGE = new Set(['index.html', 'style.css', 'page.js', 'account.js']);
const TYPES = { '.css': 'text/css', '.js': 'text/javascript', '.json': 'application/json' };

const credentials = join(process.env.CUSTOS_DATA_DIR ?? 'data', 'root-credentials.json');
const { baseUrl, organizationId, apiPublicKey, apiPrivateKey } = JSON.parse(readFileSync(credentials, 'utf8'));
const stamper = new ApiKeyStamper({ publicKey: apiPublicKey, privateKey: apiPrivateKey });
const client = createClient({ baseUrl, organizationId, stamper });

await client.enableAuthProxy({});
const { authProxyConfig } = await client.getAuthProxyConfig({});
const keys = await fetchServiceKeys(baseUrl);
const keyOf = (wanted) => keys.find(({ role }) => role === wanted).publicKey;
const inbox = await fetch(`${baseUrl}/dev/inbox.json`);
const config = JSON.stringify({
  baseUrl,
  organizationId,
  configId: authProxyConfig.configId,
  otpPublicKey: keyOf('otp'),
  sessionSigner: keyOf('session-signer'),
  ...(inbox.ok && { inboxUrl: `${baseUrl}/dev/inbox` }),
});

// Scripts from here and nowhere else; the one that stands in the page itself is known by its digest.
const page = readFileSync(join(HERE, 'index.html'), 'utf8');
const [, importMap] = /<script type="importmap">(.*?)<\/script>/s.exec(page);
const policy = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
  "style-src 'self'",
  'img-src data:',
  `connect-src 'self' ${new URL(baseUrl).origin}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What stands at a path; undefined for anything but the page and the SDK. */
async function read(path) {
  if (path === '/config.json') return config;
  const name = path === '/' ? 'index.html' : path.slice(1);
  if (PAGE.has(name)) return await readFile(join(HERE, name));
  const [, file] = /^sdk\/((?:[\w-]+\/)*[\w-]+\.js)$/.exec(name) ?? [];
  return file && (await readFile(join(SDK, file)).catch(() => undefined));
}

const server = createServer(async (request, response) => {
  // A browser may ask for anything, also for what is no address.
  const { pathname } = URL.parse?.(request.url ?? '/', 'http://localhost') ?? { pathname: '' };
  const body = await read(pathname);
  response.writeHead(body === undefined ? 404 : 200, {
    'Content-Type': `${TYPES[extname(pathname)] ?? 'text/html'}; charset=utf-8`,
    'Content-Security-Policy': policy,
    'Cache-Control': 'no-store',
  });
  response.end(body ?? 'Not found');
});
// Browsers allow passkeys without TLS on localhost, by that name and not by its address.
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`Open http://localhost:${server.address().port}`);
});
