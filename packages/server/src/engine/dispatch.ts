import type { App } from './app.ts';
import type { Operation } from './define.ts';
import { withKeyringErrors } from './keyring-errors.ts';
import { query } from './query.ts';
import type { RawRequest } from './request.ts';
import { submit } from './submit.ts';
import { vote } from './vote.ts';

/** The one way in. A keyring that is away is an answer of 503 wherever it was asked. */
export async function dispatch(app: App, operation: Operation, request: RawRequest): Promise<unknown> {
  return await withKeyringErrors(async () => {
    switch (operation.kind) {
      case 'activity':
        return await submit(app, operation, request);
      case 'vote':
        return await vote(app, operation, request);
      case 'query':
        return await query(app, operation, request);
    }
  });
}
