// Loaded into every process of a deployment by NODE_OPTIONS. In a service, each connection to a port of this machine goes through the
// switchboard of the test, which learns the service and the port from the first line. The switchboard also sets the service's clock.
import net from 'node:net';

const port = Number(process.env.SWITCHBOARD_PORT);
const service = /services\/([\w-]+)\/dist\/main\.js$/.exec(process.argv[1] ?? '')?.[1];

if (service !== undefined) {
  const { connect } = net.Socket.prototype;

  net.Socket.prototype.connect = function (...args) {
    const [options, onConnect] = Array.isArray(args[0]) ? args[0] : net._normalizeArgs(args);
    if (options.path || !/^(127\.0\.0\.1|localhost)$/.test(options.host ?? 'localhost'))
      return connect.apply(this, args);
    const listener = onConnect === null ? [] : [onConnect];
    connect.call(this, { ...options, host: '127.0.0.1', port }, ...listener);
    // Written before anything that the caller writes.
    this.write(`${service} ${options.port}\n`);
    return this;
  };

  const RealDate = Date;
  let aheadMs = 0;
  globalThis.Date = class SetDate extends RealDate {
    constructor(...values) {
      super(...(values.length === 0 ? [RealDate.now() + aheadMs] : values));
    }
    static now() {
      return RealDate.now() + aheadMs;
    }
  };

  const clock = connect.call(new net.Socket(), { port, host: '127.0.0.1' });
  clock.on('error', () => undefined).unref();
  clock.write(`${service} clock\n`);
  clock.on('data', (text) => {
    aheadMs = Number(String(text).trim().split('\n').at(-1));
  });
}
