// Damped least squares on Pinocchio's kinematics, entirely in C++: what a C++ program that uses Pinocchio pays.
// The same loop as solvers.py, which drives Pinocchio from Python; the model comes from there as a file.
#include <pinocchio/multibody.hpp>
#include <pinocchio/serialization.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/spatial.hpp>

#include <Eigen/Cholesky>
#include <string>
#include <vector>

namespace {
struct Solver {
  pinocchio::Model model;
  pinocchio::Data data;
  std::vector<pinocchio::FrameIndex> frames;
  std::vector<bool> turned;
  Eigen::VectorXd lower, upper, error, step, q;
  Eigen::MatrixXd jacobian, gram;
  pinocchio::Data::Matrix6x of_frame;
  double stop_m2, stop_rad2;
  int most;
};
}  // namespace

extern "C" {
Solver* pinocchio_make(const char* file, int goals, const int* turned, const double* lower, const double* upper,
                       double stop_m, double stop_rad, int most) {
  auto* s = new Solver;
  pinocchio::serialization::loadFromText(s->model, std::string(file));
  s->data = pinocchio::Data(s->model);
  int rows = 0;
  for (int goal = 0; goal < goals; ++goal) {
    s->frames.push_back(s->model.getFrameId("goal" + std::to_string(goal)));
    s->turned.push_back(turned[goal] != 0);
    rows += turned[goal] ? 6 : 3;
  }
  s->lower = Eigen::Map<const Eigen::VectorXd>(lower, s->model.nq);
  s->upper = Eigen::Map<const Eigen::VectorXd>(upper, s->model.nq);
  s->error.setZero(rows);
  s->step.setZero(s->model.nv);
  s->jacobian.setZero(rows, s->model.nv);
  s->gram.setZero(rows, rows);
  s->of_frame.setZero(6, s->model.nv);
  s->q.setZero(s->model.nq);
  s->stop_m2 = stop_m * stop_m;
  s->stop_rad2 = stop_rad * stop_rad;
  s->most = most;
  return s;
}

void pinocchio_free(Solver* s) { delete s; }

// targets: (G, 3) metres; turns: (G, 4) x, y, z, w; q: (nq,) is written; returns the iterations.
int pinocchio_solve(Solver* s, const double* targets, const double* turns, double damping, double* q_out) {
  s->q = pinocchio::neutral(s->model);
  int iteration = 0;
  for (;; ++iteration) {
    pinocchio::computeJointJacobians(s->model, s->data, s->q);
    double metres2 = 0.0, radians2 = 0.0;
    int row = 0;
    for (size_t goal = 0; goal < s->frames.size(); ++goal) {
      const auto& placed = pinocchio::updateFramePlacement(s->model, s->data, s->frames[goal]);
      const Eigen::Vector3d missed = Eigen::Map<const Eigen::Vector3d>(targets + 3 * goal) - placed.translation();
      s->error.segment<3>(row) = missed;
      metres2 = std::max(metres2, missed.squaredNorm());
      row += 3;
      if (s->turned[goal]) {
        const Eigen::Quaterniond wanted(Eigen::Map<const Eigen::Vector4d>(turns + 4 * goal));
        const Eigen::Vector3d turn = pinocchio::log3((wanted.toRotationMatrix() * placed.rotation().transpose()).eval());
        s->error.segment<3>(row) = turn;
        radians2 = std::max(radians2, turn.squaredNorm());
        row += 3;
      }
    }
    if ((metres2 < s->stop_m2 && radians2 < s->stop_rad2) || iteration == s->most) break;
    row = 0;
    for (size_t goal = 0; goal < s->frames.size(); ++goal) {
      const int height = s->turned[goal] ? 6 : 3;
      s->of_frame.setZero();
      pinocchio::getFrameJacobian(s->model, s->data, s->frames[goal], pinocchio::LOCAL_WORLD_ALIGNED, s->of_frame);
      s->jacobian.middleRows(row, height) = s->of_frame.topRows(height);
      row += height;
    }
    s->gram.noalias() = s->jacobian * s->jacobian.transpose();
    s->gram.diagonal().array() += damping;
    s->step.noalias() = s->jacobian.transpose() * s->gram.llt().solve(s->error);
    s->q = pinocchio::integrate(s->model, s->q, s->step).cwiseMax(s->lower).cwiseMin(s->upper);
  }
  Eigen::Map<Eigen::VectorXd>(q_out, s->model.nq) = s->q;
  return iteration;
}
}
