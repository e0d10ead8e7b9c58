export { openCertificateFile as default } from '@ecf/xml-signing';
