/**
 * A request as it was stamped. Sent again it is the same request: the service finds the activity that it made, so it
 * never becomes a second one. It holds no key, but its body may hold secrets, such as a one-time code; keep it as such.
 */
export interface SignedRequest {
  /** Behind the address of the service. */
  readonly path: string;
  readonly body: string;
  /** The name and the value of the header that holds the stamp. */
  readonly headerName: string;
  readonly headerValue: string;
}
