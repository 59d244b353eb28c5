import pg from 'pg';

/** What the driver has, though its types do not say so. */
interface DriverConnection extends pg.Connection {
  readonly ssl: boolean | object;
  readonly sslNegotiation: 'postgres' | 'direct';
  connect(path: string): void;
  connect(port: number, host: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
}

interface DriverClient {
  readonly host: string;
  readonly port: number;
  readonly connection: DriverConnection;
  readonly processID: number | null;
  readonly secretKey: number | null;
}

const PATIENCE_MS = 5000;

/**
 * Asks the server to give up what it does for a connection. The protocol wants that over a connection of its own. Nobody
 * waits for it, and it changes nothing if the statement has ended meanwhile.
 */
export function cancel(client: pg.PoolClient): void {
  const { host, port, connection: used, processID, secretKey } = client as unknown as DriverClient;
  if (processID === null || secretKey === null) return;
  const { ssl, sslNegotiation } = used;
  const connection = new pg.Connection({ ssl, sslNegotiation } as never) as DriverConnection;
  const leave = (): void => {
    clearTimeout(patience);
    connection.stream.destroy();
  };
  const patience = setTimeout(leave, PATIENCE_MS);
  patience.unref();
  const ask = (): void => connection.cancel(processID, secretKey);
  if (!ssl) connection.once('connect', ask);
  else if (sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
  connection.once('sslconnect', ask);
  // A server that cannot be reached ends the statement by its own time-out.
  connection.on('error', leave);
  // The server says nothing and hangs up.
  connection.once('end', leave);
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
}
