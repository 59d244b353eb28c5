// Finds the Ethereum node of the tests. Where a registry has none for this processor, the one for x64 runs on Linux in
// an emulator.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { COMPAT } from './compat.mjs';
import { installFromDebian } from './debian.mjs';
import { unpackPackage } from './npm.mjs';

const { platform, arch } = process;
const packageFor = (processor) => `@foundry-rs/anvil-${platform}-${processor === 'x64' ? 'amd64' : processor}`;
const programIn = (folder) => path.join(folder, 'bin', platform === 'win32' ? 'anvil.exe' : 'anvil');

const NATIVE = programIn(path.join(COMPAT, 'node_modules', packageFor(arch)));
/** Beside the packages, so that it goes with them when they are installed anew. */
const FOREIGN_FOLDER = path.join(COMPAT, 'node_modules', '.anvil-x64');
const FOREIGN = programIn(FOREIGN_FOLDER);
/** Debian's libraries for programs of that processor. */
const LIBRARIES = '/usr/x86_64-linux-gnu';
const EMULATORS = ['/usr/bin/qemu-x86_64', '/usr/bin/qemu-x86_64-static'];
const DEBIAN = ['qemu-user', 'libc6-amd64-cross', 'libgcc-s1-amd64-cross'];

const findEmulator = () =>
  existsSync(path.join(LIBRARIES, 'lib/libgcc_s.so.1')) ? EMULATORS.find((file) => existsSync(file)) : undefined;

/** The command that starts it: a program with its first arguments. */
export function findAnvil() {
  if (existsSync(NATIVE)) return [NATIVE];
  const emulator = findEmulator();
  if (emulator !== undefined && existsSync(FOREIGN)) return [emulator, '-L', LIBRARIES, FOREIGN];
  throw new Error(
    `no ${packageFor(arch)} in compat/node_modules; on Linux \`npm test\` takes the one for x64 if ${DEBIAN.join(', ')} are installed`,
  );
}

/** To be called when the packages of compat are installed. Says nothing where there is none: the tests that need it do. */
export function installAnvil() {
  if (existsSync(NATIVE) || platform !== 'linux') return;
  if (findEmulator() === undefined && !installFromDebian(...DEBIAN)) return;
  if (!existsSync(FOREIGN)) installForeign();
}

/** npm installs no package of another processor, so it is unpacked here, as the lockfile has it. */
function installForeign() {
  const name = packageFor('x64');
  const { packages } = JSON.parse(readFileSync(path.join(COMPAT, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages[`node_modules/${name}`];
  unpackPackage({ name, version, integrity }, FOREIGN_FOLDER);
}
