-- DropTable
DROP TABLE "instance";
