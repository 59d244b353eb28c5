import type { Page } from 'playwright-core';

/** What the browser keeps of a session. */
export interface Kept {
  readonly fields: readonly string[];
  readonly isExtractable: boolean;
  readonly algorithm: string;
  /** The error of an attempt to export it. */
  readonly exportError: string;
}

/** The sessions in the database of the console, each tried for whether its private key gets out. */
export async function keptSessions(page: Page): Promise<readonly Kept[]> {
  return await page.evaluate(async () => {
    const answered = <Result>(request: IDBRequest<Result>): Promise<Result> =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const kept = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await answered(indexedDB.open(name ?? ''));
      for (const table of database.objectStoreNames) {
        const rows = await answered(database.transaction(table).objectStore(table).getAll());
        for (const row of rows as readonly { keyPair: CryptoKeyPair }[]) {
          const { privateKey } = row.keyPair;
          const tried = await Promise.allSettled(
            (['jwk', 'pkcs8', 'raw'] as const).map((format) => crypto.subtle.exportKey(format, privateKey)),
          );
          const errors = tried.map((one) => (one.status === 'rejected' ? String(one.reason.name) : 'exported'));
          kept.push({
            fields: Object.keys(row).sort(),
            isExtractable: privateKey.extractable,
            algorithm: (privateKey.algorithm as EcKeyAlgorithm).namedCurve,
            exportError: [...new Set(errors)].join(),
          });
        }
      }
      database.close();
    }
    return kept;
  });
}

/** Everything that the page keeps as text, in either storage and in cookies. */
export const storedTexts = async (page: Page): Promise<Record<string, string>> =>
  await page.evaluate(() =>
    Object.fromEntries([
      ...[localStorage, sessionStorage].flatMap((storage) => Object.entries<string>({ ...storage })),
      ...(document.cookie === '' ? [] : [['cookie', document.cookie]]),
    ]),
  );
