const DATABASE = 'custos-console';
const TABLE = 'session';
const CURRENT = 'current';

/** How the session began. */
export type SessionOrigin = 'passkey' | 'api-key' | 'link';

/** What is kept between visits. The private key is a handle that no script can read. */
export interface StoredSession {
  readonly keyPair: CryptoKeyPair;
  readonly organizationId: string;
  readonly organizationName: string;
  readonly userId: string;
  readonly userName: string;
  readonly expiresAtMs: number;
  readonly origin: SessionOrigin;
}

const answered = <Result>(request: IDBRequest<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('the browser does not keep data'));
  });

async function withTable<Result>(
  mode: IDBTransactionMode,
  use: (table: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(TABLE);
  const database = await answered(opening);
  try {
    return await answered(use(database.transaction(TABLE, mode).objectStore(TABLE)));
  } finally {
    database.close();
  }
}

export const readSession = async (): Promise<StoredSession | undefined> =>
  await withTable('readonly', (table) => table.get(CURRENT) as IDBRequest<StoredSession | undefined>);

export async function writeSession(session: StoredSession): Promise<void> {
  await withTable('readwrite', (table) => table.put(session, CURRENT));
}

export async function deleteSession(): Promise<void> {
  await withTable('readwrite', (table) => table.delete(CURRENT));
}
