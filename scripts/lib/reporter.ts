import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node';

/** One line of test-skips.json: `name` is a test, or a suite with everything below it. */
interface AllowedSkip {
  readonly name: string;
  readonly reason: string;
  /** `NAME set` or `NAME unset` of an environment variable; without it the skip always stands. */
  readonly when?: string;
}

interface Skip {
  readonly name: string;
  readonly file: string;
  readonly allowed: AllowedSkip | undefined;
}

/** Fails the run on skips nobody has named, and closes it with the figures a reader looks for first. */
export class SummaryReporter implements Reporter {
  #vitest: Vitest | undefined;
  #folder: string | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    const folder = mkdtempSync(path.join(tmpdir(), 'custos-vectors-'));
    this.#folder = folder;
    process.env.VECTOR_COUNT_FILE = path.join(folder, 'count');
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  }

  onTestRunStart(): void {
    writeFileSync(this.#countFile(), '');
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[], reason: string): void {
    const vitest = this.#vitest;
    if (!vitest) return;
    const skipsFile = path.join(vitest.config.root, 'test-skips.json');
    const allowed: AllowedSkip[] = existsSync(skipsFile) ? readSkips(readFileSync(skipsFile, 'utf8')) : [];

    let passed = 0;
    let failed = unhandled.length;
    let skipped = 0;
    const skips: Skip[] = [];
    for (const module of modules) {
      failed += countBroken(module);
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed') passed += 1;
        else if (state === 'failed') failed += 1;
        else {
          skipped += 1;
          // A broken hook or import is the failure to report, not the tests it kept from running.
          if (!isBelowBroken(test)) skips.push(describeSkip(test, module, allowed));
        }
      }
    }

    const filtered = vitest.config.testNamePattern !== undefined || process.argv.some((arg) => /\.ts:\d+$/.test(arg));
    const unnamed = filtered ? [] : skips.filter((skip) => !skip.allowed);
    const failedRun = reason !== 'passed' || failed > 0 || unnamed.length > 0;
    if (failedRun) process.exitCode ||= 1;

    for (const skip of unnamed) {
      vitest.logger.error(`Skipped without an entry in test-skips.json that applies: ${skip.file} > ${skip.name}`);
    }
    vitest.logger.log(
      `Vector cases: ${this.#readCount()}${process.env.TEST_VECTORS ? '' : ' (TEST_VECTORS is unset)'}`,
    );
    vitest.logger.log(`Skips: ${filtered ? 'not checked, since the run is narrowed to some tests' : listSkips(skips)}`);
    vitest.logger.log(`${passed} passed, ${failed + unnamed.length} failed, ${skipped - unnamed.length} skipped`);
  }

  #countFile(): string {
    if (!this.#folder) throw new Error('the reporter was not initialised');
    return path.join(this.#folder, 'count');
  }

  #readCount(): number {
    return readFileSync(this.#countFile(), 'utf8')
      .split('\n')
      .reduce((sum, line) => sum + Number(line), 0);
  }
}

function readSkips(text: string): AllowedSkip[] {
  const entries: unknown = JSON.parse(text);
  if (!Array.isArray(entries)) throw new Error('test-skips.json must hold an array');
  for (const entry of entries) {
    if (typeof entry?.name !== 'string' || typeof entry.reason !== 'string' || !entry.name || !entry.reason) {
      throw new Error('every entry of test-skips.json needs a name and a reason');
    }
    if (entry.when !== undefined && !/^(\w+ (un)?set|not Linux|not root)$/.test(entry.when)) {
      throw new Error(
        `test-skips.json: "when" must read "NAME set", "NAME unset", "not Linux" or "not root", not "${entry.when}"`,
      );
    }
  }
  return entries;
}

function holds(when: string | undefined): boolean {
  if (when === undefined) return true;
  if (when === 'not Linux') return process.platform !== 'linux';
  if (when === 'not root') return process.platform !== 'linux' || process.getuid?.() !== 0;
  const [name = '', state] = when.split(' ');
  return Boolean(process.env[name]) === (state === 'set');
}

function describeSkip(test: TestCase, module: TestModule, allowed: readonly AllowedSkip[]): Skip {
  const name = test.fullName;
  const matches = (entry: AllowedSkip) => name === entry.name || name.startsWith(`${entry.name} > `);
  const entry = allowed.find((candidate) => matches(candidate) && holds(candidate.when));
  return { name, file: module.relativeModuleId, allowed: entry };
}

function listSkips(skips: readonly Skip[]): string {
  const counts = new Map<AllowedSkip, number>();
  for (const { allowed } of skips) if (allowed) counts.set(allowed, (counts.get(allowed) ?? 0) + 1);
  const lines = [...counts].map(([{ name, reason }, count]) => `${name} (${count}): ${reason}`);
  const unnamed = skips.filter((skip) => !skip.allowed).length;
  if (unnamed > 0) lines.push(`${unnamed} without an entry, which fails the run`);
  return lines.join('; ') || 'none';
}

/** Suites and files that failed outside any test, by a hook or while loading. */
function countBroken(module: TestModule): number {
  let count = module.errors().length > 0 ? 1 : 0;
  for (const suite of module.children.allSuites()) if (suite.errors().length > 0) count += 1;
  return count;
}

function isBelowBroken(test: TestCase): boolean {
  let parent: TestSuite | TestModule = test.parent;
  for (;;) {
    if (parent.errors().length > 0) return true;
    if (parent.type === 'module') return false;
    parent = parent.parent;
  }
}
