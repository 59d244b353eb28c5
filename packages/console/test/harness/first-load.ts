import { get } from 'node:http';
import type { Request } from 'playwright-core';
import type { Device } from './browser.ts';

/** The bytes of everything that the page loads of the console while something is done, each file gzipped and once. */
export async function loadedBytes(device: Device, doing: () => Promise<void>): Promise<number> {
  const loaded = new Set<string>();
  const note = (request: Request): void => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET' && pathname.startsWith('/console')) loaded.add(pathname);
  };
  device.page.on('request', note);
  await doing();
  device.page.off('request', note);
  const sizes = await Promise.all([...loaded].map((path) => gzippedBytes(`${device.origin}${path}`)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** What comes over the wire to a client that reads nothing better than gzip. */
const gzippedBytes = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        bytes += part.length;
      });
      response.on('end', () => resolve(bytes)).on('error', reject);
    }).on('error', reject);
  });
