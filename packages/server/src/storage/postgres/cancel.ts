import { isIP } from 'node:net';
import pg from 'pg';

/** What the driver has, though its types do not say so. */
interface DriverConnection extends pg.Connection {
  readonly stream: pg.Connection['stream'] & { readonly remoteAddress?: string; readonly remotePort?: number };
  readonly ssl: boolean | TlsOptions;
  readonly sslNegotiation: 'postgres' | 'direct';
  connect(path: string): void;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface TlsOptions {
  readonly key?: unknown;
}

interface DriverClient {
  readonly host: string;
  readonly port: number;
  readonly connection: DriverConnection;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

/** Longer is not worth the wait: the server has a time-out of its own. */
const PATIENCE_MS = 1000;

/**
 * Asks the server to give up what it does for a connection, and hangs up. The protocol wants a connection of its own for
 * that, to the server that the first one leads to; a pooler knows the first one only until it is closed. It cannot be known
 * whether the server was in time.
 */
export async function cancelAndClose(client: pg.PoolClient): Promise<void> {
  const { connection } = client as unknown as DriverClient;
  try {
    await cancel(client);
  } catch {
    // The server stops by its own time-out.
  } finally {
    connection.stream.destroy();
  }
}

async function cancel(client: pg.PoolClient): Promise<void> {
  const { host, port, connection: used, processID, secretKey } = client as unknown as DriverClient;
  if (processID === null || secretKey === null) return;
  const { ssl, sslNegotiation, stream } = used;
  const connection = new pg.Connection({ ssl: sameServer(ssl, host), sslNegotiation } as never) as DriverConnection;
  const ask = (): void => connection.cancel(processID, secretKey);
  if (!ssl) connection.once('connect', ask);
  else if (sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
  connection.once('sslconnect', ask);
  const patience = setTimeout(() => connection.stream.destroy(), PATIENCE_MS);
  try {
    // The server says nothing and hangs up.
    await new Promise<void>((resolve, reject) => {
      connection.on('error', reject);
      connection.once('end', resolve);
      if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
      else connection.connect(stream.remotePort ?? port, stream.remoteAddress ?? host);
    });
  } finally {
    clearTimeout(patience);
    connection.stream.destroy();
  }
}

/** Connected to by its address, the server still has to prove its name. */
function sameServer(ssl: boolean | TlsOptions, host: string): boolean | object {
  if (ssl === false) return false;
  const options = ssl === true ? {} : { ...ssl, ...('key' in ssl && { key: ssl.key }) };
  return { host, ...(isIP(host) === 0 && { servername: host }), ...options };
}
