/** Every image with the package of its program. Each is a target of the Dockerfile. */
export const IMAGES = {
  gateway: '@ecf/gateway',
  emission: '@ecf/emission',
  'status-poller': '@ecf/status-poller',
  reception: '@ecf/reception',
  approvals: '@ecf/approvals',
  query: '@ecf/query',
  cli: '@ecf/cli',
  standalone: '@ecf/standalone',
  'authority-simulator': '@ecf/authority-simulator',
};
