-- AlterTable
ALTER TABLE "api_keys" ADD COLUMN     "expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_used_at" TIMESTAMPTZ(3),
ADD COLUMN     "scopes" TEXT[] DEFAULT ARRAY['submit', 'read', 'receive', 'approve', 'cancel']::TEXT[],
ADD COLUMN     "taxpayers" TEXT[] DEFAULT ARRAY[]::TEXT[];
