// Compiles the packages in dependency order, and puts what runs together into a few files each. Run by `npm ci` (root
// lifecycle script) and `npm run build`; `npm run build console` builds the named packages only. With `--if-changed` nothing
// is done if the last whole build was of the same sources.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { buildConsole } from './lib/build-console.mjs';
import { buildProgram } from './lib/build-program.mjs';
import { buildRecoveryPage } from './lib/build-recovery-page.mjs';
import { digestOfSources, forgetBuild, isBuilt, rememberBuild } from './lib/build-stamp.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const compiler = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));

/**
 * What is started, and what other packages import. Hundreds of small files take longer to find and to compile than to
 * run, and a start should be quick. Nothing is renamed, so that stacks say where they were; what is read is shorter by
 * its comments and blanks (docs/decisions/0051). What has native parts or workers of its own, and what is loaded only
 * when it is needed, stays where it is.
 */
const BUNDLES = {
  keyring: { entries: ['index', 'formats', 'launch', 'serve', 'process/host', 'process/worker'], packages: 'external' },
  // Each by itself: a thread, and a process of another user, which is to hold little of the service.
  server: {
    entries: ['domains/webhooks/poster/worker', 'keyring-serve'],
    external: ['@custos/keyring', '@custos/keyring/*'],
  },
  cli: { entries: ['main'], packages: 'external' },
};

/** The service is one script, compiled ahead. */
const PROGRAM = {
  starts: 'main',
  entries: [
    'admin',
    'policy/index',
    'chains/policy-facts/index',
    'registry',
    // The bench puts a recorder into it.
    'storage/integrity/integrity',
  ],
  // What `main` loads when the keyring process is under way.
  ahead: ['run'],
  external: [
    '@custos/keyring',
    '@custos/keyring/*',
    '@photostructure/sqlite',
    'jose',
    'nodemailer',
    'pg',
    // Fastify asks for these only if routes have schemas, or in tests.
    '@fastify/ajv-compiler',
    '@fastify/fast-json-stringify-compiler',
    'light-my-request',
  ],
};

/** Of these only what is used is built in: their parts do nothing when they are loaded, though they do not say so. */
const unusedParts = {
  name: 'unused-parts',
  setup(builder) {
    builder.onResolve({ filter: /./ }, async ({ path, pluginData, ...options }) => {
      if (pluginData === unusedParts || !/simplewebauthn/.test(`${path} ${options.importer}`)) return undefined;
      const resolved = await builder.resolve(path, { ...options, pluginData: unusedParts });
      return resolved.external ? resolved : { ...resolved, sideEffects: false };
    });
  },
};

const COMMON = {
  platform: 'node',
  target: 'node20.19',
  plugins: [unusedParts],
  minifyWhitespace: true,
  minifySyntax: true,
  // A position in a stack is a line that can be looked at.
  lineLimit: 120,
  sourcemap: true,
  sourcesContent: false,
  absWorkingDir: root,
  logLevel: 'warning',
  logOverride: { 'ignored-bare-import': 'silent' },
};

const PACKAGES = ['keyring', 'sdk', 'console', 'server', 'cli'];
const onlyIfChanged = process.argv.includes('--if-changed');
const chosen = process.argv.slice(2).filter((arg) => arg !== '--if-changed');
const unknown = chosen.filter((name) => !PACKAGES.includes(name));
if (unknown.length > 0) throw new Error(`no such package: ${unknown.join(', ')} (there are ${PACKAGES.join(', ')})`);
if (onlyIfChanged && isBuilt(PACKAGES)) process.exit();
const digest = digestOfSources(PACKAGES);
forgetBuild();

for (const name of PACKAGES) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  if (name === 'console') {
    // Its types are checked with the others (`npm run check`); a browser loads no declarations.
    await buildConsole(`${root}packages/console`);
    continue;
  }
  const project = `packages/${name}/tsconfig.build.json`;
  const { status, error } = spawnSync(process.execPath, [compiler, '-p', project], { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
  if (name in BUNDLES) await bundle(name, BUNDLES[name]);
  if (name === 'server') await buildProgram(`${root}packages/server/dist`, { ...PROGRAM, ...COMMON });
  if (name === 'cli') await buildRecoveryPage(`${root}packages/cli`);
}
if (chosen.length === 0) rememberBuild(digest);

async function bundle(name, { entries, ...options }) {
  const dist = `${root}packages/${name}/dist`;
  const { metafile } = await build({
    ...COMMON,
    ...options,
    entryPoints: entries.map((entry) => `${dist}/${entry}.js`),
    outdir: dist,
    outbase: dist,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    chunkNames: 'chunks/[name]-[hash]',
    // Packages in the older format ask for Node's own modules by require.
    banner: {
      js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
    },
    metafile: true,
  });
  // Afterwards, so that a service that is starting meanwhile finds what it was told of.
  const current = new Set(Object.keys(metafile.outputs).map((path) => resolve(root, path)));
  for (const file of existsSync(`${dist}/chunks`) ? readdirSync(`${dist}/chunks`) : []) {
    const path = resolve(dist, 'chunks', file);
    if (!current.has(path)) rmSync(path);
  }
}
