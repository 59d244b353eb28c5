// A temporary folder in memory, where the system has one: most of what the tests write is databases that are thrown away,
// and a disk takes its time to promise that it will keep them.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { freemem } from 'node:os';
import path from 'node:path';

const MEMORY = '/dev/shm';
const BYTES_MIN = 8 * 1024 ** 3;

/** Undefined where there is no such folder, too little room in it, or nothing in it may be run. */
export function openScratch() {
  let folder;
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    if (Math.min(bavail * bsize, freemem()) < BYTES_MIN) return undefined;
    folder = mkdtempSync(path.join(MEMORY, 'custos-test-'));
    // PostgreSQL runs as another account, which must get through.
    chmodSync(folder, 0o711);
    const program = path.join(folder, 'runs');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o700 });
    if (spawnSync(program).status !== 0) throw new Error('nothing in it may be run');
  } catch {
    if (folder !== undefined) remove(folder);
    return undefined;
  }
  // Removes it even when this process is killed: the pipe closes with the process.
  const reaper = spawn('sh', ['-c', 'cat >/dev/null; rm -rf "$1"', 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  reaper.unref();
  reaper.stdin.unref?.();
  reaper.on('error', () => {});
  return {
    path: folder,
    dispose() {
      remove(folder);
      reaper.kill('SIGKILL');
    },
  };
}

const remove = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
