import path from 'node:path';

/** A second listener of a broker, with TLS and a login. */
export interface SecureListener {
  readonly port: number;
  /** PEM file of the broker's certificate authority. Its folder holds the broker's key too: `broker.p12`. */
  readonly caFile: string;
  readonly username: string;
  /** Password of the login and of the key file. */
  readonly password: string;
}

/** What a broker has beside its plain listener, or in place of it. */
export interface BrokerAccess {
  readonly secure?: SecureListener | null;
  /** Passwords by user. With them every client logs in, and only `admin` may do what no rule allows. */
  readonly passwords?: Readonly<Record<string, string>>;
}

/**
 * One node in KRaft mode that starts quickly, lets groups join quickly, and creates no topics automatically. The session is
 * short, because a killed broker cannot register again until its session has ended.
 */
export function properties(
  folder: string,
  port: number,
  controllerPort: number,
  { secure = null, passwords }: BrokerAccess = {},
): string {
  const name = passwords === undefined ? 'PLAINTEXT' : 'LOGIN';
  const listener = secure === null ? '' : `,SECURE://127.0.0.1:${secure.port}`;
  return `process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=${name}://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}${listener}
advertised.listeners=${name}://127.0.0.1:${port}${listener}
controller.listener.names=CONTROLLER
${passwords === undefined ? 'listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SECURE:SASL_SSL' : propertiesText(loginSettings(passwords))}
log.dirs=${path.join(folder, 'data')}
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=2
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
log.cleaner.dedupe.buffer.size=16777216
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
${secure === null ? '' : secureProperties(secure)}`;
}

function propertiesText(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join('\n');
}

/** The settings of {@link BrokerAccess} with passwords, by their names in `server.properties`. */
export function loginSettings(passwords: Readonly<Record<string, string>>): Record<string, string> {
  const users = Object.entries(passwords).map(([user, password]) => `user_${user}="${password}"`);
  const own = `username="admin" password="${passwords.admin}"`;
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required ${own} ${users.join(' ')};`;
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': 'User:admin',
    'listener.security.protocol.map': 'CONTROLLER:SASL_PLAINTEXT,LOGIN:SASL_PLAINTEXT',
    'inter.broker.listener.name': 'LOGIN',
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'listener.name.login.plain.sasl.jaas.config': login,
    'listener.name.controller.plain.sasl.jaas.config': login,
  };
}

function secureProperties({ caFile, username, password }: SecureListener): string {
  const login = `org.apache.kafka.common.security.plain.PlainLoginModule required user_${username}="${password}";`;
  return `listener.name.secure.sasl.enabled.mechanisms=PLAIN
listener.name.secure.plain.sasl.jaas.config=${login}
listener.name.secure.ssl.keystore.type=PKCS12
listener.name.secure.ssl.keystore.location=${path.join(path.dirname(caFile), 'broker.p12')}
listener.name.secure.ssl.keystore.password=${password}
`;
}
