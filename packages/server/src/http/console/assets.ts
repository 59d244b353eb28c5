import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { sha256Hex } from '../../lib/encoding.ts';

const NONCE = '__NONCE__';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** In the order in which they are preferred. */
const ENCODINGS = [
  { name: 'br', ending: '.br' },
  { name: 'gzip', ending: '.gz' },
] as const;

/** One form of a file: as it is, or compressed when the console was built. */
interface AssetForm {
  readonly encoding: (typeof ENCODINGS)[number]['name'] | undefined;
  readonly content: Buffer;
  readonly etag: string;
}

export interface Asset {
  readonly type: string;
  /** The smallest first; the last one is plain. */
  readonly forms: readonly AssetForm[];
}

/** The console as it was built, held in memory: a build that runs meanwhile takes nothing from those who load it. */
export interface ConsoleFiles {
  /** The page with this nonce in it. */
  page(nonce: string): string;
  asset(name: string): Asset | undefined;
}

/** Undefined where nobody built it. */
export function loadConsole(folder = builtFolder()): ConsoleFiles | undefined {
  const index = join(folder, 'index.html');
  if (!existsSync(index)) return undefined;
  const parts = readFileSync(index, 'utf8').split(NONCE);
  const assets = loadAssets(join(folder, 'assets'));
  return { page: (nonce) => parts.join(nonce), asset: (name) => assets.get(name) };
}

function builtFolder(): string {
  const require = createRequire(import.meta.url);
  return join(dirname(require.resolve('@custos/console/package.json')), 'dist');
}

function loadAssets(folder: string): ReadonlyMap<string, Asset> {
  const files = new Set(readdirSync(folder));
  const assets = new Map<string, Asset>();
  for (const name of files) {
    // Source maps and compressed forms are no files of their own.
    const type = TYPES[extname(name)];
    if (type === undefined) continue;
    const content = readFileSync(join(folder, name));
    const tag = sha256Hex(content).slice(0, 32);
    const compressed = ENCODINGS.filter(({ ending }) => files.has(`${name}${ending}`)).map((encoding) => ({
      encoding: encoding.name,
      content: readFileSync(join(folder, `${name}${encoding.ending}`)),
      etag: `"${tag}-${encoding.name}"`,
    }));
    assets.set(name, { type, forms: [...compressed, { encoding: undefined, content, etag: `"${tag}"` }] });
  }
  return assets;
}

/** The first form that the client reads (RFC 9110, 12.5.3). */
export function formFor({ forms }: Asset, acceptEncoding: string | undefined): AssetForm {
  const weights = weightsOf(acceptEncoding ?? '');
  const found = forms.find(
    ({ encoding }) => encoding === undefined || (weights.get(encoding) ?? weights.get('*') ?? 0) > 0,
  );
  return found as AssetForm;
}

function weightsOf(header: string): ReadonlyMap<string, number> {
  const entries = header.split(',').map((part) => {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return [name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0] as const;
  });
  return new Map(entries);
}
